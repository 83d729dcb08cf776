// What a token is: a card beside the one that is pointed at, and a dialog with its merge tree.

const card = byId('card');
let carded = null; // the token that the card is for

function hideCard() {
  carded = null;
  card.hidden = true;
}

function facts(...rows) {
  return make('dl', {}, ...rows.filter(Boolean).flatMap(([name, ...value]) => [make('dt', {}, name), make('dd', {}, ...value)]));
}

function nodeOf(nodes, id) {
  const [hex, length, rank, left, right, special] = nodes[id];
  return { id, bytes: bytesOf(hex), length, rank, left, right, special };
}

// "special", the rank, or why there is none.
function rankOf(node) {
  if (node.special) return 'none: a special token, never made by merging';
  if (node.rank !== null) return group(node.rank);
  return node.left === null ? 'none: a base symbol' : 'none';
}

function madeOf(nodes, node) {
  if (node.left === null) {
    if (node.special) return null;
    return ['made of', node.length > 1 && node.rank !== null ? 'no one pair' : 'nothing smaller'];
  }
  const parts = [node.left, node.right].map((id) => nodeOf(nodes, id));
  const shown = parts.map((part) => make('span', { class: 'part' }, chip(part.bytes, part.id), make('small', {}, group(part.id))));
  return ['made of', shown[0], ' + ', shown[1]];
}

async function showCard(index, id, place, element) {
  const mine = (carded = {});
  let answer;
  try {
    answer = await tree(index, id);
  } catch (error) {
    answer = { error: error.message };
  }
  if (carded !== mine) return;
  if (answer.error !== undefined) card.replaceChildren(make('p', {}, answer.error));
  else {
    const node = nodeOf(answer.nodes, id);
    const bytes = `${hexPairs(node.bytes, 24)}${node.length > 1 ? ` (${group(node.length)})` : ''}`;
    card.replaceChildren(
      make('p', { class: 'head' }, chip(node.bytes.subarray(0, 60), id, node.special ? 'special' : ''), make('b', {}, `id ${id}`)),
      facts(['bytes', make('code', {}, bytes)], ['rank', rankOf(node)], madeOf(answer.nodes, node), ['place', place]),
      make('p', { class: 'hint' }, 'Click or Enter: how it was merged'),
    );
  }
  card.hidden = false;
  const token = element.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const below = token.bottom + 8 + height < innerHeight || token.top < height + 8;
  card.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, token.left))}px`;
  card.style.top = `${Math.max(8, below ? Math.min(token.bottom + 8, innerHeight - height - 8) : token.top - height - 8)}px`;
}

// The dialog

const dialog = byId('tree');
const MOST_SHOWN = 400;

async function openTree(index, id) {
  hideCard();
  let answer;
  try {
    answer = await tree(index, id);
  } catch (error) {
    answer = { error: error.message };
  }
  if (answer.error !== undefined) {
    byId('tree-body').replaceChildren(make('p', {}, answer.error));
  } else {
    const { nodes } = answer;
    const node = nodeOf(nodes, id);
    const room = { left: MOST_SHOWN };
    const list = make('ul', { class: 'tree' }, branch(index, nodes, id, room));
    byId('tree-title').replaceChildren('Token ', chip(node.bytes.subarray(0, 60), id, node.special ? 'special' : ''), ` of ${config.names[index]}`);
    byId('tree-body').replaceChildren(
      facts(['id', group(id)], ['bytes', make('code', {}, hexPairs(node.bytes, 128))], ['rank', rankOf(node)], madeOf(nodes, node)),
      node.left === null ? '' : make('p', { class: 'hint' }, 'From the top down, each token is the merge of the two below it; the lower the rank, the earlier it was learnt. A click folds a part.'),
      make('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Merge tree' }, list),
    );
  }
  if (!dialog.open) dialog.showModal();
}

// A token and, below it, what it is made of, down to its bytes.
function branch(index, nodes, id, room) {
  const node = nodeOf(nodes, id);
  room.left--;
  const item = make('li');
  const label = [chip(node.bytes.subarray(0, 60), id, node.special ? 'special' : '')];
  const told = make('small', {}, make('span', {}, `id ${id}`));
  if (node.left === null) {
    told.append(make('code', {}, hexPairs(node.bytes, 8)));
    item.append(make('span', { class: 'node leaf' }, ...label, told));
    return item;
  }
  if (node.rank !== null) told.append(make('span', {}, `rank ${group(node.rank)}`));
  const below = make('ul');
  const unroll = async () => {
    if (below.childElementCount > 0) return;
    const known = node.left in nodes && node.right in nodes ? nodes : (await tree(index, id)).nodes;
    below.append(branch(index, known, node.left, room), branch(index, known, node.right, room));
  };
  const button = make('button', {
    class: 'node',
    type: 'button',
    'aria-expanded': 'true',
    click: async () => {
      const open = button.getAttribute('aria-expanded') !== 'true';
      if (open) {
        room.left = Math.max(room.left, 50);
        await unroll();
      }
      button.setAttribute('aria-expanded', String(open));
      below.hidden = !open;
    },
  }, ...label, told);
  item.append(button, below);
  if (room.left > 0 && node.left in nodes && node.right in nodes) unroll();
  else {
    button.setAttribute('aria-expanded', 'false');
    below.hidden = true;
  }
  return item;
}

dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
byId('tree-close').addEventListener('click', () => dialog.close());
document.addEventListener('keydown', (event) => event.key === 'Escape' && hideCard());
