import type { Attack, Verdict } from '../attack.js';
import { sendOnce } from '../expectations.js';
import type { OwnModule, Scene } from '../scene.js';
import { LIES, OWN, SILENCES, SPOOFS } from '../servers/broker-scripts.js';

/** A module whose provider is behind a hostile broker. @param port that of the broker */
export function createBrokerModule(port: number): OwnModule {
  return {
    // For gateways that do not speak AMQP.
    url: `http://127.0.0.1:${port}`,
    provider: { kind: 'amqp', config: { url: `amqp://127.0.0.1:${port}`, queue: 'q' } },
    limits: { timeout_ms: 4_000 },
    manifest: {
      inline: {
        ...{ protocol: 'modgate.manifest.v1', module_id: 'queue', capabilities: ['shop.use'] },
        http_routes: [{ method: 'POST', path: '/messages/{kind}', capability: 'shop.use' }],
      },
    },
  };
}

const post = (kind: string) => ({
  ...{ method: 'POST', target: `/modules/queue/http/messages/${kind}`, body: '{}' },
});

/** The call gets its own answer, and the next one too. */
async function expectOwn(scene: Scene, kind: string): Promise<Verdict> {
  for (const each of [kind, 'own']) {
    const { body } = await sendOnce(scene, post(each), 200);
    const { data } = JSON.parse(body.toString()) as { readonly data?: unknown };
    if (JSON.stringify(data) !== OWN) return `the answer to ${each} is ${JSON.stringify(data)}`;
  }
  return null;
}

/** The call fails alone. */
async function expectFailure(scene: Scene, kind: string): Promise<Verdict> {
  await sendOnce(scene, post(kind), 502);
  return expectOwn(scene, 'own');
}

export const BROKER_CASES: readonly Attack[] = [
  ...Object.entries(SPOOFS).map(([name, [title]]) => ({
    ...{ id: `broker-${name}`, title },
    attack: (scene: Scene) => expectOwn(scene, name),
  })),
  ...Object.entries({ ...LIES, ...SILENCES }).map(([name, [title]]) => ({
    ...{ id: `broker-${name}`, title },
    attack: (scene: Scene) => expectFailure(scene, name),
  })),
];
