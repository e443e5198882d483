import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { warnOfOpenPermissions } from '../../core/config/check-permissions.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { startHost } from '../support/start-host.js';

const STATE = 'others than its owner may read or change the state folder: chmod 700';
const TOKENS = 'others than its owner may read or change the tokens file: chmod 600';

const MODES: readonly (readonly [state: number, tokens: number, warnings: readonly string[]])[] = [
  [0o700, 0o600, []],
  [0o700, 0o640, []],
  [0o750, 0o600, [STATE]],
  [0o707, 0o600, [STATE]],
  [0o720, 0o600, [STATE]],
  [0o700, 0o644, [TOKENS]],
  [0o700, 0o620, [TOKENS]],
  [0o700, 0o602, [TOKENS]],
  [0o755, 0o666, [STATE, TOKENS]],
];

describe('files that other users may read or change', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'modgate-exposed-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  for (const [stateMode, tokensMode, warnings] of MODES) {
    const title = `${stateMode.toString(8)} and ${tokensMode.toString(8)}`;
    it(`cause ${warnings.length} warnings, for the state folder and the tokens file at ${title}`, () => {
      const state = join(folder, 'state');
      const tokens = join(folder, 'tokens.json');
      mkdirSync(state);
      writeFileSync(tokens, '');
      chmodSync(state, stateMode);
      chmodSync(tokens, tokensMode);
      const { log, lines } = createRecordedLog();
      warnOfOpenPermissions({ state, tokens }, log);
      expect(lines.map(({ level, message }) => [level, message])).to.deep.equal(
        warnings.map((message) => ['warn', message]),
      );
    });
  }

  it('cause no warnings when they do not exist', () => {
    const { log, lines } = createRecordedLog();
    warnOfOpenPermissions({ state: join(folder, 'missing'), tokens: null }, log);
    expect(lines).to.deep.equal([]);
  });

  it('are logged when the host starts', async () => {
    const tokens = join(folder, 'tokens.json');
    writeFileSync(tokens, '{"tokens":[]}');
    chmodSync(tokens, 0o666);
    chmodSync(folder, 0o755);
    const host = await startHost({ args: ['--tokens', tokens, '--state', folder] });
    try {
      expect(host.logs().map(({ msg }) => msg)).to.include.members([STATE, TOKENS]);
    } finally {
      await host.stop();
    }
  });
});
