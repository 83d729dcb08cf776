// What the page asks of the worker: {call, name, ...} is answered by {call, answer} or {call, error}.

const vocabularies = [];
let trainer = null;

const answers = {
  load: async ({ index, base64 }) => {
    vocabularies[index] = await Vocabulary.read(base64);
    return true;
  },
  encode: ({ index, text, trusted }) => vocabularies[index].encode(text, trusted),
  tree: ({ index, id }) => vocabularies[index].tree(id),
  pieces: ({ index, text }) => vocabularies[index].pieces(text),
  steps: ({ index, text }) => vocabularies[index].steps(text),
  train: ({ text, options }) => {
    trainer = new Trainer(text, options);
    return trainer.report(0);
  },
  // So many rounds, or as many as fit into `milliseconds`; negative ones go back.
  rounds: ({ rounds, milliseconds }) => {
    const from = Math.max(0, Math.min(trainer.merges.length, trainer.merges.length + rounds));
    const until = performance.now() + milliseconds;
    let done = 0;
    while (done < Math.abs(rounds) && (rounds < 0 ? trainer.back() : trainer.step())) {
      done++;
      if (performance.now() > until) break;
    }
    return { ...trainer.report(rounds < 0 ? trainer.merges.length : from), back: rounds < 0 };
  },
};

onmessage = async ({ data }) => {
  try {
    const answer = await answers[data.name](data);
    const moved = answer.ids?.buffer instanceof ArrayBuffer ? [answer.ids.buffer, answer.starts.buffer, answer.ends.buffer] : [];
    postMessage({ call: data.call, answer }, moved);
  } catch (error) {
    postMessage({ call: data.call, error: error.message });
  }
};
