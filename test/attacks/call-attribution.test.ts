import { connect } from 'node:net';
import { expect } from 'chai';
import type { AttackResult } from '../../core/selftest/run-attacks.js';
import { ATTACK_CORPUS, runAttacks } from './corpus.js';
import { type OwnHost, startOwnHost } from './own-host.js';
import { listen } from './weak/weak-host.js';

/** One for each way in which a case looks at what the servers have received. */
const CASES = [
  'path-dot-dot',
  'path-bytes-space',
  'smuggling-no-host-behind',
  'response-cut-length',
  'ssrf-redirect-302',
  'ssrf-query',
  'raw-status-302',
  'neighbors-introspection-format',
  'neighbors-introspection-repeat',
  'cross-module-granted',
  'web-forged-null',
];

describe('calls that providers receive during attacks', () => {
  let ownHost: OwnHost;

  before(async () => {
    ownHost = await startOwnHost();
  });

  after(() => ownHost.close());

  it('do not count against an attack that did not cause them', async () => {
    const { provider, bystander, introspection } = ownHost.scene;
    let isOver = false;
    const callAll = async () => {
      while (!isOver) {
        for (const { url } of [provider, bystander, introspection]) {
          await fetch(`${url}/items`, { headers: { 'x-request-id': 'another' } });
        }
      }
    };
    const calls = callAll();
    const results = await runAttacks(select(CASES), ownHost.scene);
    isOver = true;
    await calls;
    expect(results.map(toText)).to.deep.equal(CASES.map((id) => `${id} held`));
  });

  it('count against the attack that caused them, however late they are', async () => {
    const { provider } = ownHost.scene;
    const hostPort = ownHost.scene.address.port;
    let first = '';
    const weak = await listen((client) => {
      client.once('data', async (bytes) => {
        const id = /x-request-id: (\S+)/.exec(bytes.toString('latin1'))?.[1] ?? '';
        if (id.startsWith('path-dot-dot.')) first = id;
        else await fetch(`${provider.url}/late`, { headers: { 'x-request-id': first } });
        const host = connect(hostPort, '127.0.0.1');
        client.on('error', () => host.destroy()).pipe(host);
        host.on('error', () => client.destroy()).pipe(client);
        host.write(bytes);
      });
    });
    try {
      const attacks = select(['path-dot-dot', 'web-forged-null']);
      const results = await runAttacks(attacks, {
        ...ownHost.scene,
        address: { host: '127.0.0.1', port: weak.port },
      });
      expect(results.map(toText)).to.deep.equal([
        'path-dot-dot failed the provider was called: /late',
        'web-forged-null held',
      ]);
    } finally {
      await weak.close();
    }
  });
});

function select(ids: readonly string[]) {
  return ids.map((id) => {
    const attack = ATTACK_CORPUS.find((entry) => entry.id === id);
    if (attack === undefined) throw new Error(`no attack ${id}`);
    return attack;
  });
}

function toText({ attack, verdict, reason }: AttackResult): string {
  return [attack.id, verdict, ...(reason === null ? [] : [reason])].join(' ');
}
