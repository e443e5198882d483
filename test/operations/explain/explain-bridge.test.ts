import { expect } from 'chai';
import {
  bridgeTarget,
  createDescriptor,
  httpProvider,
  RELEASE,
  serviceToken,
  UI,
} from '../../support/bridge/bridge.js';
import { CONFIG, configManifest } from '../../support/bridge/config.js';
import { call, parseJson } from '../../support/http/call.js';
import { useHost } from '../../support/http/use-host.js';

type Check = { readonly check: string; readonly outcome: string; readonly status: number | null };

describe('explanation of the console bridge', () => {
  const setup = useHost(({ url }) => {
    const members = { provider: httpProvider(url) };
    const identify = (moduleId: string) => configManifest([], { module_id: moduleId });
    return {
      'crm.json': createDescriptor('crm', configManifest([]), [CONFIG], members),
      'lonely.json': createDescriptor('lonely', identify('acme/alone'), [CONFIG], members),
      'stand-in.json': createDescriptor('stand-in', identify('off'), [CONFIG], members),
      'off.json': createDescriptor('off', identify('off'), [CONFIG], { enabled: false }),
      'bare.json': createDescriptor('bare', configManifest([]), [], { ...members, console: {} }),
    };
  });
  const explain = async (module: string, permission: string, as: string) => {
    const target = encodeURIComponent(bridgeTarget(module, permission));
    const response = await call(setup.host, {
      target: `/explain?method=POST&target=${target}`,
      headers: [['modgate-explain-as', as]],
    });
    return parseJson(response) as unknown as {
      readonly verdict: { readonly status: number | null };
      readonly checks: readonly (Check & { detail: string; next_actions: string[] })[];
    };
  };
  const summarize = (checks: readonly Check[]) =>
    checks.map(({ check, outcome, status }) => [check, outcome, status].join(' ').trim());

  it('shows every step, and the digests that a console must send', async () => {
    const { verdict, checks } = await explain('crm', CONFIG, serviceToken(CONFIG));
    expect(verdict.status).to.equal(null);
    expect(summarize(checks)).to.deep.equal([
      'actor pass',
      'route pass',
      'permission pass',
      'body unknown',
      'module pass',
      'grant pass',
      'release unknown',
      'ui unknown',
    ]);
    const detailOf = (name: string) => checks.find(({ check }) => check === name)?.detail;
    expect(detailOf('release')).to.include(RELEASE);
    expect(detailOf('ui')).to.include(UI);
  });

  it('names the permission that the actor does not hold, and the grant that is missing', async () => {
    const { verdict, checks } = await explain('crm', 'crm.other', serviceToken('x'));
    expect(verdict.status).to.equal(403);
    const failed = checks.filter(({ outcome }) => outcome === 'fail');
    expect(summarize(failed)).to.deep.equal(['permission fail 403', 'grant fail 403']);
    expect(failed.flatMap(({ next_actions }) => next_actions)).to.deep.equal([
      'ask for the scope crm.other',
      'add crm.other to console.grants in crm.json',
    ]);
  });

  it('finds the module by the name or the module_id that the bridge would use', async () => {
    const summaryOf = async (module: string) =>
      summarize((await explain(module, CONFIG, serviceToken(CONFIG))).checks);
    expect(await summaryOf('acme%2Falone')).to.include('module pass');
    // A name is never read as a module_id, even if its module is not live.
    expect(await summaryOf('off')).to.include('module fail 404');
  });

  it('says that a descriptor lists no UI artifact, and that a module does not exist', async () => {
    const bare = await explain('bare', CONFIG, serviceToken(CONFIG));
    expect(summarize(bare.checks)).to.include('ui fail 403');
    const missing = await explain('nowhere', CONFIG, serviceToken(CONFIG));
    expect(missing.verdict.status).to.equal(404);
    expect(summarize(missing.checks)).to.include('module fail 404');
  });
});
