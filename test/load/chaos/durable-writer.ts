import { silent } from '../../store/backend.js';
import { write } from '../../store/drafts.js';
import { openStore } from '../../support/store/open-store.js';

/** Writes `first`, `first` + 1, … until it is killed. Acknowledges each write with a line on stdout. */
const [stateDir = '', url = '', first = '0'] = process.argv.slice(2);
const store = await openStore({ url: url === '' ? null : url, stateDir, keys: null, log: silent });
for (let n = Number(first); ; n += 1) {
  const { revision } = await write(store, `k${n}`, n);
  process.stdout.write(`${n} ${revision}\n`);
}
