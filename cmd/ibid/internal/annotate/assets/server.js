// Acts are kept by the program that serves this page.
const store = {
  window: crypto.randomUUID(),

  async ask(path, init = {}) {
    const response = await fetch(path, { ...init, headers: { "Ibid-Window": this.window } });
    if (response.ok) return response.json();
    const error = new Error((await response.text()).trim());
    error.refused = response.status < 500;
    throw error;
  },

  open() {
    return this.ask("open", { method: "POST" });
  },

  item(place) {
    return this.ask(`item?${new URLSearchParams({ id: place.item, part: place.part })}`);
  },

  exercise() {
    return this.ask("exercise");
  },

  agreement() {
    return this.ask("agreement");
  },

  // keep returns the act as it was kept: on disk, with code points.
  keep(act) {
    const body = { ...act };
    for (const edge of ["from", "to"]) if (act[edge]) body[edge] = [act[edge].run, act[edge].unit];
    return this.ask("act", { method: "POST", body: JSON.stringify(body) });
  },
};
