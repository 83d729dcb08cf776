// Who answers questions about tokenizers: the server, or the worker where the vocabularies are parts of the page. The
// worker trains in both cases.

class Crew {
  constructor() {
    const source = new Blob([byId('worker').textContent], { type: 'text/javascript' });
    this.worker = new Worker(URL.createObjectURL(source));
    this.waiting = new Map();
    this.calls = 0;
    this.worker.onmessage = ({ data: { call, answer, error } }) => {
      const { done, failed } = this.waiting.get(call);
      this.waiting.delete(call);
      if (error === undefined) done(answer);
      else failed(new Error(error));
    };
  }

  ask(name, details) {
    return new Promise((done, failed) => {
      this.waiting.set(++this.calls, { done, failed });
      this.worker.postMessage({ call: this.calls, name, ...details });
    });
  }
}

const crew = new Crew();

class FromServer {
  async facts(index) {
    return this.get(`/api/tokenizer?t=${index}`);
  }

  async encode(index, data, trusted, signal) {
    const answer = await this.fetch(`/api/encode?t=${index}&trusted=${trusted ? 1 : 0}`, { method: 'POST', body: data, signal });
    const buffer = await answer.arrayBuffer();
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(toText.decode(new Uint8Array(buffer, 4, length)));
    if (head.error !== undefined) return head;
    const column = (i) => new Uint32Array(buffer, 4 + length + 4 * head.count * i, head.count);
    return { ...head, ids: column(0), starts: column(1), ends: column(2) };
  }

  tree(index, id) {
    return this.get(`/api/token?t=${index}&id=${id}`);
  }

  pieces(index, text) {
    return this.get(`/api/pieces?t=${index}`, { method: 'POST', body: text });
  }

  steps(index, text) {
    return this.get(`/api/steps?t=${index}`, { method: 'POST', body: text });
  }

  async get(path, options) {
    return (await this.fetch(path, options)).json();
  }

  async fetch(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Error('The server does not answer: start `digram serve` again, and reload this page.');
    }
    if (!answer.ok) throw new Error((await answer.json()).error);
    return answer;
  }
}

class FromPage {
  constructor() {
    this.loading = config.facts.map((_, index) => {
      const element = byId(`vocabulary-${index}`);
      const base64 = element.textContent;
      element.remove();
      return crew.ask('load', { index, base64 });
    });
  }

  async facts(index) {
    await this.loading[index];
    return config.facts[index];
  }

  async encode(index, data, trusted, signal) {
    await this.loading[index];
    signal.throwIfAborted();
    return crew.ask('encode', { index, text: toText.decode(data), trusted });
  }

  async tree(index, id) {
    return crew.ask('tree', { index, id });
  }

  async pieces(index, text) {
    await this.loading[index];
    return crew.ask('pieces', { index, text });
  }

  async steps(index, text) {
    await this.loading[index];
    return crew.ask('steps', { index, text });
  }
}

const backend = config.server ? new FromServer() : new FromPage();

// Trees by tokenizer and id: asked for once.
const trees = config.names.map(() => new Map());

function tree(index, id) {
  const known = trees[index];
  if (!known.has(id)) {
    const asked = backend.tree(index, id).catch((error) => {
      known.delete(id);
      throw error;
    });
    known.set(id, asked);
    if (known.size > 5000) known.delete(known.keys().next().value);
  }
  return known.get(id);
}
