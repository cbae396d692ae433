// Acts are kept in the browser: this page is one file that somebody without the program
// opens. They come back as a file.
const data = JSON.parse($("data").textContent);
const wrong = (e) => new Error(`this browser keeps nothing here (${e?.message || e}); open the file in another one`);

const store = {
  db: undefined,
  acts: [],
  annotator: "",

  async open() {
    this.db = await new Promise((done, fail) => {
      const request = indexedDB.open("ibid-annotate", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("acts", { keyPath: ["sample", "seq"] });
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(wrong(request.error));
    });
    const all = await new Promise((done, fail) => {
      const request = this.db.transaction("acts").objectStore("acts").getAll(IDBKeyRange.bound([data.name, 0], [data.name, Infinity]));
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(wrong(request.error));
    });
    this.acts = all.map((x) => x.act);
    $("download").hidden = false;
    $("download").onclick = () => this.download();
    return { annotator: "in this browser", mode: "annotate", queue: data.queue, acts: this.acts.slice(), exercise: true };
  },

  async item(place) {
    return data.items[data.queue.findIndex((p) => p.item === place.item && p.part === place.part)];
  },

  async exercise() {
    return data.exercise;
  },

  // keep returns the act once the browser says that it is on disk.
  async keep(sent, item) {
    const { from, to, part, ...act } = sent;
    if (from) act.args = { ...act.args, ...spanOf(item.documents.find((d) => d.doc === act.args.doc).runs, from, to) };
    act.seq = this.acts.length + 1;
    act.at = new Date().toISOString();
    await new Promise((done, fail) => {
      const transaction = this.db.transaction("acts", "readwrite", { durability: "strict" });
      // add refuses a number that is there: another window has gone on.
      transaction.objectStore("acts").add({ sample: data.name, seq: act.seq, act });
      transaction.oncomplete = done;
      transaction.onabort = () => {
        const other = transaction.error?.name === "ConstraintError";
        const e = other ? new Error("This page is open in another window, which goes on. Reload to go on here.") : wrong(transaction.error);
        fail(Object.assign(e, { refused: other }));
      };
    });
    this.acts.push(act);
    return act;
  },

  // download gives the file that agree --filled reads.
  download() {
    const byItem = new Map();
    for (const a of this.acts) byItem.set(a.item, [...(byItem.get(a.item) || []), a]);
    let text = "";
    for (const [id, all] of byItem) {
      const s = fold(all);
      if (!s.done.truth && !s.done.labels) continue;
      text += `${JSON.stringify({
        id,
        query: "",
        answer: "",
        truth: s.done.truth ? s.marks.map(({ doc, start, end }) => ({ doc, start, end })) : null,
        labels: s.done.labels ? s.labels.map((l) => Object.fromEntries(Object.entries(l).filter(([, v]) => v !== ""))) : [],
        ...(s.note && { note: s.note }),
        ...(s.flag && { flag: true }),
      })}\n`;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    link.download = "filled.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  },
};
