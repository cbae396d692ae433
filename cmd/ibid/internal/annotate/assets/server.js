// States are kept by the program that serves this page.
const store = {
  async ask(path, init) {
    const response = await fetch(path, init);
    if (response.ok) return response.status === 204 ? undefined : response.json();
    const changed = response.status === 409 && (await response.json());
    const error = new Error(changed ? "changed elsewhere" : (await response.text()).trim());
    error.changed = changed;
    error.refused = response.status < 500;
    throw error;
  },

  open() {
    return this.ask("open");
  },

  item(place) {
    return this.ask(`item?${new URLSearchParams({ id: place.item })}`);
  },

  exercise() {
    return this.ask("exercise");
  },

  // keep returns once the state is on disk.
  keep(state, after) {
    return this.ask("state", { method: "POST", body: JSON.stringify({ state, after }) });
  },
};
