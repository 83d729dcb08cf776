// The tab of training: a vocabulary is learnt from the text, round by round, by the definition itself.

const MOST_TRAINED = 200000;
const training = { report: null, merges: [], busy: false, playing: false, fresh: false };

function trainingText() {
  let text = state.text;
  if (text.length > MOST_TRAINED) text = text.slice(0, MOST_TRAINED);
  return toText.decode(toBytes.encode(text));
}

async function startTraining() {
  training.playing = false;
  training.fresh = true;
  const mine = (training.run = {});
  const pattern = state.split === 'none' ? null : config.patterns[state.split];
  const report = await crew.ask('train', { text: trainingText(), options: { pattern, alphabet: state.alphabet, ties: state.ties } });
  if (training.run !== mine) return;
  training.merges = [];
  training.report = report;
  training.start = report.total;
  byId('train-cut').hidden = state.text.length <= MOST_TRAINED;
  renderTraining();
}

async function trainRounds(rounds, milliseconds = 2000) {
  if (training.busy || training.report === null) return;
  training.busy = true;
  const mine = training.run;
  const report = await crew.ask('rounds', { rounds, milliseconds });
  training.busy = false;
  if (training.run !== mine) return;
  if (report.back) training.merges.length = report.round;
  else training.merges.push(...report.merges);
  training.report = report;
  renderTraining();
}

async function playTraining() {
  training.playing = !training.playing;
  renderTraining();
  const mine = training.run;
  while (training.playing && training.run === mine && training.report.best !== null && state.tab === 'train') {
    const pace = paceOf(byId('train-speed'));
    const fastest = byId('train-speed').value === byId('train-speed').max;
    await trainRounds(fastest ? 50 : 1, 100);
    await new Promise((done) => setTimeout(done, fastest ? 16 : pace));
  }
  if (training.run === mine) training.playing = false;
  renderTraining();
}

const tokenOf = (id) => bytesOf(training.report.tokens[id]);
const pairOf = (left, right) => [chip(tokenOf(left), left), make('span', { class: 'plus' }, '+'), chip(tokenOf(right), right)];

function renderTraining() {
  const { report } = training;
  const over = report.best === null;
  byId('train-back').disabled = report.round === 0;
  for (const name of ['train-step', 'train-many', 'train-play']) byId(name).disabled = over;
  byId('train-play').textContent = training.playing ? 'Pause' : 'Play';
  byId('train-round').textContent = group(report.round);
  byId('train-ids').textContent = group(report.alphabet + report.round);
  byId('train-total').textContent = group(report.total);
  byId('train-ratio').textContent = report.total ? (report.bytes / report.total).toFixed(2) : '–';
  byId('train-said').replaceChildren(...saidOfRound(report));
  const most = report.best?.count ?? 1;
  byId('train-pairs').replaceChildren(...report.top.map(([left, right, count], i) => {
    const tied = report.best.tied > 1 && count === most;
    const bar = make('span', { class: 'bar' });
    bar.style.inlineSize = `${(100 * count) / most}%`;
    return make('tr', { class: i === 0 ? 'winner' : null },
      make('td', {}, ...pairOf(left, right)),
      make('td', { class: 'number' }, group(count)),
      make('td', { class: 'bars' }, bar),
      make('td', {}, i === 0 ? (tied ? `next · wins a tie of ${report.best.tied}` : 'next') : tied ? 'tie' : ''));
  }));
  const learnt = training.merges.slice(-200).reverse();
  byId('train-merges').replaceChildren(...learnt.map((merge) => make('li', { value: merge.id - report.alphabet + 1 },
    ...pairOf(merge.left, merge.right), make('span', { class: 'plus' }, '→'), chip(tokenOf(merge.id), merge.id),
    make('small', {}, ` id ${merge.id}, ${group(merge.count)} times${merge.tied > 1 ? `, a tie of ${merge.tied}` : ''}`))));
  renderTrainedText(report);
  renderCurve(report);
}

const RULES = {
  'smallest-ids': 'the smallest ids win',
  'smallest-tokens': 'the smallest tokens win, compared as strings',
  'first-seen': 'the pair that comes first in the text wins',
};

function saidOfRound(report) {
  if (report.bytes === 0) return ['Type or paste a text above: its pairs are counted here.'];
  const last = training.merges.at(-1);
  const parts = last ? [`Round ${report.round}: `, ...pairOf(last.left, last.right), ' became ', chip(tokenOf(last.id), last.id), `, id ${last.id}. `] : [];
  if (report.best === null) return [...parts, 'No pair is left: every piece is one token.'];
  const { pair, count, tied } = report.best;
  const rule = tied > 1 ? ` ${tied} pairs occur so often: ${RULES[state.ties]}.` : '';
  return [...parts, `Of ${group(report.distinct)} different pairs `, ...pairOf(...pair), ` is the most frequent: ${group(count)} times.${rule}`];
}

// The beginning of the text as it is cut now, pieces apart.
function renderTrainedText(report) {
  const last = training.merges.at(-1)?.id;
  byId('train-text').replaceChildren(...report.text.map((piece) => {
    const text = toText.decode(Uint8Array.from(piece.flatMap((id) => Array.from(tokenOf(id)))));
    return make('span', { class: 'trained', dir: directionOf(text) ?? 'ltr' }, ...piece.map((id) => chip(tokenOf(id), id, id === last ? 'new' : '')));
  }), report.cut ? ' …' : '');
  byId('train-text').dir = directionOf(state.text.slice(0, 2000)) ?? 'ltr';
}

// How many tokens the text has after each round.
function renderCurve(report) {
  const totals = [...training.merges.map((merge) => merge.total), report.total];
  const width = 300;
  const height = 60;
  const points = totals.map((total, i) => {
    const x = totals.length > 1 ? (i / (totals.length - 1)) * width : 0;
    return `${x.toFixed(1)},${(height - (total / (training.start || 1)) * (height - 4)).toFixed(1)}`;
  });
  byId('train-line').setAttribute('points', points.join(' '));
  byId('train-curve').setAttribute('aria-label', `Symbols of the text: ${group(training.start)} at the start, ${group(report.total)} after ${report.round} rounds`);
}

byId('train-step').addEventListener('click', () => trainRounds(1));
byId('train-back').addEventListener('click', () => trainRounds(-1));
byId('train-many').addEventListener('click', () => trainRounds(50));
byId('train-play').addEventListener('click', playTraining);
byId('train-again').addEventListener('click', startTraining);
const splitNames = { none: 'none: the text is one piece' };
byId('split').append(...[...Object.keys(config.patterns), 'none'].map((name) => make('option', { value: name }, splitNames[name] ?? name)));
for (const name of ['split', 'alphabet', 'ties']) byId(name).addEventListener('change', () => change({ [name]: byId(name).value }));

const restartTraining = debounced(() => state.tab === 'train' && !training.fresh && startTraining());
onChange((names) => {
  for (const name of ['split', 'alphabet', 'ties']) byId(name).value = state[name];
  if (names.some((name) => ['split', 'alphabet', 'ties', 'text'].includes(name))) training.fresh = false;
  restartTraining(names.includes('text') ? 200 : 0);
});
