// States are kept in the browser: this page is one file that somebody without the program
// opens. They come back as a file.
const data = JSON.parse($("data").textContent);
const wrong = (e) => new Error(`this browser keeps nothing here (${e?.message || e}); open the file in another one`);

const store = {
  db: undefined,
  key: undefined, // of round and name
  lines: [],

  async open() {
    const name = await this.name();
    this.key = `${data.header.round} ${name.toLowerCase()}`;
    this.db = await new Promise((done, fail) => {
      const request = indexedDB.open("ibid-annotate-2", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("lines", { keyPath: ["round", "seq"] });
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(wrong(request.error));
    });
    this.lines = await this.read();
    $("download").hidden = false;
    $("download").onclick = () => this.download(name);
    const mine = data.places.filter((p) => !p.for || p.for.some((x) => x.toLowerCase() === name.toLowerCase()));
    return { round: data.header.round, annotator: name, mode: "annotate", places: mine, states: this.lines };
  },

  // name asks who annotates, as long as it is nobody who may.
  async name() {
    const is = (names, name) => (names || []).some((x) => x.toLowerCase() === name.toLowerCase());
    $("ask-name").hidden = false;
    for (;;) {
      const name = await new Promise((done) => {
        $("ask-name").onsubmit = (e) => (e.preventDefault(), done($("name").value.trim()));
        $("name").focus();
      });
      if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || is(["items", "key", "gold", "adjudicated"], name)) $("name-wrong").textContent = "Letters, digits, points, dashes and underscores, such as ada.";
      else if (is(data.header.taken, name)) $("name-wrong").textContent = "Somebody has this name already.";
      else if (data.header.annotators && !is(data.header.annotators, name)) $("name-wrong").textContent = `This round is for ${data.header.annotators.join(", ")}.`;
      else {
        $("ask-name").hidden = true;
        $("name").blur(); // the browser takes the focus away with the next frame only: a key before it would be lost
        return name;
      }
    }
  },

  read() {
    return new Promise((done, fail) => {
      const request = this.db.transaction("lines").objectStore("lines").getAll(IDBKeyRange.bound([this.key, 0], [this.key, Infinity]));
      request.onsuccess = () => done(request.result.map((x) => x.state));
      request.onerror = () => fail(wrong(request.error));
    });
  },

  async item(place) {
    return data.items[data.places.findIndex((p) => p.item === place.item)];
  },

  async exercise() {
    return data.exercise;
  },

  // keep returns once the browser says that the state is on disk.
  async keep(state) {
    let other = false;
    await new Promise((done, fail) => {
      const transaction = this.db.transaction("lines", "readwrite", { durability: "strict" });
      // add refuses a number that is there: another window has gone on.
      transaction.objectStore("lines").add({ round: this.key, seq: this.lines.length + 1, state });
      transaction.oncomplete = done;
      transaction.onabort = () => {
        other = transaction.error?.name === "ConstraintError";
        if (other) done();
        else fail(wrong(transaction.error));
      };
    });
    if (!other) return void this.lines.push(state);
    this.lines = await this.read();
    throw Object.assign(new Error("changed elsewhere"), { refused: true, changed: this.lines.filter((s) => s.id === state.id) });
  },

  // download gives the file that belongs into the folder of the round.
  download(name) {
    const header = { schema: "ibid.marks/v1", round: data.header.round, annotator: name, role: "annotator" };
    const text = [header, ...this.lines].map((line) => `${JSON.stringify(line)}\n`).join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    link.download = `${name}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  },
};
