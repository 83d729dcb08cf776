// Tabs, switches, samples; and the start.

const tabs = [...document.querySelectorAll('[role=tab]')];

function showTab() {
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === state.tab;
    tab.setAttribute('aria-selected', String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute('aria-controls')).hidden = !chosen;
  }
}

for (const tab of tabs) {
  tab.addEventListener('click', () => change({ tab: tab.dataset.tab }));
  tab.addEventListener('keydown', (event) => {
    const at = tabs.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[to % tabs.length];
    change({ tab: next.dataset.tab });
    next.focus();
  });
}

for (const input of document.querySelectorAll('[data-switch]')) {
  input.addEventListener('change', () => change({ [input.dataset.switch]: input.checked ? '1' : '' }));
}
for (const input of document.querySelectorAll('[name=theme]')) {
  input.addEventListener('change', () => change({ theme: input.value }));
}

onChange((names) => {
  for (const input of document.querySelectorAll('[data-switch]')) input.checked = Boolean(state[input.dataset.switch]);
  for (const input of document.querySelectorAll('[name=theme]')) input.checked = input.value === state.theme;
  document.documentElement.dataset.theme = state.theme;
  if (names.includes('tab')) {
    if (tabs.some((tab) => tab.dataset.tab === state.tab)) showTab();
    else change({ tab: 'tokens' });
    if (state.tab !== 'merges') stopMerges();
  }
});

const SAMPLES = [
  ['English', 'The tokenizer cuts “unbelievable” into parts it has learnt; lower, lowest, newer and newest share theirs.'],
  ['العربية', 'مرحبًا بالعالم! هذه جملة عربية فيها كلمة English واحدة.\nשלום עולם, זהו משפט בעברית.'],
  ['日本語', 'トークナイザーは文章を小さな単位に分けます。東京は日本の首都です。'],
  ['Emoji', '👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 café naïve e\u0301 한국어 𝔘𝔫𝔦𝔠𝔬𝔡𝔢'],
  ['Code', 'def merge(ids, pair, new_id):\n    out = []\n    for i, x in enumerate(ids):\n        if (x, ids[i + 1 : i + 2]) == pair:\n            out.append(new_id)\n    return out\n'],
  ['Numbers', '3.14159265358979 1234567 2026-11-30 0x1F600 1,000,000'],
  ['Markers', 'A user may type <|endoftext|> into a text; only text that you trust may hold the token.'],
];
byId('samples').append(...SAMPLES.map(([name, text]) => make('button', { type: 'button', click: () => {
  setText(text);
  area.focus();
} }, name)));
byId('clear').addEventListener('click', () => {
  setText('');
  area.focus();
});

byId('panes').append(...panes.map((pane) => pane.element));
byId('panes').classList.add(`of${panes.length}`);
byId('mark-row').hidden = panes.length === 1;
addEventListener('hashchange', () => change(readAddress()));
addEventListener('error', (event) => {
  byId('size').textContent = `This page has a defect: ${event.message}`;
});

Object.assign(state, readAddress());
// What a browser kept of the text area over a reload is newer than nothing.
if (state.text === '' && area.value !== '') state.text = area.value;
for (const listener of listeners) listener(Object.keys(state));
for (const pane of panes) {
  pane.load().then(() => pane.result && compareAll());
}
