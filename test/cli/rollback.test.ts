import { expect } from 'chai';
import { type FakeAnswer, startFakeHost } from '../support/cli/fake-host.js';
import { runModgate } from '../support/cli/run-modgate.js';

const RELEASE = `sha256:${'1'.repeat(64)}`;
const PROBLEM = `crm of ${RELEASE}: CRM_TOKEN is not set`;

describe('modgate rollback', () => {
  /** Runs it at a host whose fleet has a host that rejected the release when it was last active. */
  async function rollBack(fleet: FakeAnswer) {
    const answers: Readonly<Record<string, FakeAnswer>> = {
      '/rollback': { body: { release: RELEASE, outcome: 'active' } },
      '/releases': {
        body: {
          active: RELEASE,
          canary: null,
          releases: [],
          hosts: [
            { host: 'host_ready', release: RELEASE, problem: null },
            { host: 'host_lost', release: null, problem: PROBLEM },
          ],
        },
      },
      '/fleet': fleet,
    };
    const host = await startFakeHost(({ pathname }) => answers[pathname] as FakeAnswer);
    const ended = await runModgate(['rollback', '--url', host.url]);
    await host.close();
    expect(ended).to.include({ code: 0, stdout: '111111111111 is active\n' });
    return { ...ended, requests: host.requests };
  }

  const describeHost = (id: string, state: string) => ({
    ...{ id, state, version: '0.1.0', address: 'http://127.0.0.1:1', digest: RELEASE },
    ...{ started_at: '2026-01-01T00:00:00Z', heartbeat_at: '2026-01-01T00:00:00Z' },
    ...{ workers: 1, rejected: [] },
  });

  it('neither waits for a lost host nor warns of its last report', async () => {
    const hosts = [describeHost('host_lost', 'lost'), describeHost('host_ready', 'ready')];
    const body = { fleet: 'shop', agreed: false, digest: null, hosts };
    const { stderr, requests } = await rollBack({ body });
    expect(stderr).to.equal('');
    expect(requests.filter((request) => request === 'GET /releases')).to.have.length(1);
  });

  for (const [status, detail] of [
    [403, "requires the scope 'modgate.modules.read'"],
    [404, 'the host has no fleet'],
  ] as const) {
    it(`warns of every host that rejects the release where it cannot tell lost ones: ${status}`, async () => {
      const { stderr } = await rollBack({ status, body: { detail, errors: [], status } });
      expect(stderr).to.equal(`warning: host_lost does not serve ${PROBLEM}\n`);
    });
  }
});
