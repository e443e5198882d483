import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BACKENDS, type Backend } from '../../store/backend.js';

const WRITES = 1000;
const KILLS = 8;
const WRITER = fileURLToPath(new URL('durable-writer.js', import.meta.url));

for (const { name, create, require } of BACKENDS) {
  describe(`durability on ${name}`, () => {
    let backend: Backend;
    before(async function () {
      await require(this);
      backend = create();
    });
    after(() => backend?.dispose());

    it('keeps one chain and one revision when several processes write', async () => {
      const shared = create();
      try {
        const starts = [0, 10_000, 20_000];
        const runs = starts.map((first) => writeUntilKilled(shared, first, 100));
        const acknowledged = (await Promise.all(runs)).flat();
        const store = await shared.open();
        const { revision, values } = await store.config.read('crm');
        const lost = acknowledged.filter(({ n }) => values.get(`crm/k${n}`) !== n);
        expect(lost).to.deep.equal([]);
        expect(revision).to.equal(values.size);
        expect(new Set(acknowledged.map((result) => result.revision)).size).to.equal(
          acknowledged.length,
        );
        expect(await store.audit.verify()).to.deep.equal({ rows: revision, brokenAt: null });
      } finally {
        await shared.dispose();
      }
    });

    it(`loses none of ${WRITES} acknowledged writes to ${KILLS} kills`, async () => {
      const acknowledged: { n: number; revision: number }[] = [];
      let next = 0;
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const count = kill === KILLS ? WRITES - acknowledged.length : randomCount();
        acknowledged.push(...(await writeUntilKilled(backend, next, count)));
        // A write in progress at the kill may have been stored.
        next = (acknowledged.at(-1)?.n ?? -1) + 1000 * kill;
      }
      const store = await backend.open();
      const { revision, values } = await store.config.read('crm');
      const lost = acknowledged.filter(({ n }) => values.get(`crm/k${n}`) !== n);
      expect(lost).to.deep.equal([]);
      expect(acknowledged).to.have.length.of.at.least(WRITES);
      expect(revision).to.equal(values.size);
      expect(new Set(acknowledged.map((result) => result.revision)).size).to.equal(
        acknowledged.length,
      );
      expect(await store.audit.verify()).to.deep.equal({ rows: revision, brokenAt: null });
    });
  });
}

function randomCount(): number {
  return 50 + Math.floor(Math.random() * 100);
}

async function writeUntilKilled(
  { stateDir, url }: Backend,
  first: number,
  count: number,
): Promise<{ n: number; revision: number }[]> {
  const child = spawn(process.execPath, [WRITER, stateDir, url ?? '', String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged: { n: number; revision: number }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [n = Number.NaN, revision = Number.NaN] = line.split(' ').map(Number);
    acknowledged.push({ n, revision });
    // Kills at a random moment of a write, not only after one.
    if (acknowledged.length === count) setTimeout(() => child.kill('SIGKILL'), Math.random() * 3);
  }
  await exited;
  return acknowledged;
}
