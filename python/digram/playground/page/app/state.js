// What is chosen, kept in the fragment of the address: text, tab, switches. It never leaves this machine by it, and a
// link to it shows the same again.

const LONGEST_IN_ADDRESS = 2000;

const defaults = {
  text: '',
  tab: 'tokens',
  theme: 'auto',
  trusted: '',
  marks: '1',
  ids: '',
  word: '',
  which: '0',
  split: config.patterns.cl100k ? 'cl100k' : 'none',
  alphabet: 'bytes',
  ties: 'smallest-ids',
};
for (let i = 0; i < config.names.length; i++) Object.assign(defaults, { [`window${i}`]: '128000', [`price${i}`]: '1' });

const state = { ...defaults };
const listeners = [];

// Calls `listener` with the names of what has changed, after each change.
function onChange(listener) {
  listeners.push(listener);
}

function change(values) {
  const changed = Object.keys(values).filter((name) => state[name] !== values[name]);
  if (changed.length === 0) return;
  Object.assign(state, values);
  for (const listener of listeners) listener(changed);
  writeAddress(changed.includes('text') ? 250 : 0);
}

const writeAddress = debounced(() => {
  const kept = new URLSearchParams();
  const long = state.text.length > LONGEST_IN_ADDRESS;
  for (const [name, value] of Object.entries(state)) {
    if (value !== defaults[name] && !(name === 'text' && long)) kept.set(name, value);
  }
  byId('long').hidden = !long;
  const fragment = kept.toString();
  history.replaceState(null, '', fragment ? `#${fragment}` : location.pathname + location.search);
});

// The state that the address holds: what it does not name has its default.
function readAddress() {
  const values = { ...defaults };
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) if (name in defaults) values[name] = value;
  return values;
}
