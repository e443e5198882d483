import { setTimeout as pause } from 'node:timers/promises';
import {
  AttackFailure,
  expectNoSecrets,
  parseObject,
} from '../../../core/selftest/expectations.js';
import type { ReceivedResponse } from '../../../core/selftest/raw-http.js';
import type { ReceivedRequest } from '../../support/provider.js';
import type { Attack, CraftedRequest } from '../attack.js';
import { checkLate, expectBystanderUncalled, sendOnce, waitFor } from '../expectations.js';
import { listReceived, type OwnModules, type Scene } from '../scene.js';
import { JSON_TYPE, respond, type Scripts } from '../servers/scripted-server.js';

/** Candidates whose copies end late, or never; each has its own module, and so its own limit of copies. */
const SLOW = {
  hang: 'a candidate that never answers',
  endless: 'a candidate whose answers never end',
  large: 'a candidate whose answers have 50 MiB',
};
/** The name of a member that looks like a value. */
export const COPIED_NAME = 'bob.4711@mail.test';

/** Longer than the deadline of a live response. */
const COPY_TIMEOUT_MS = 5_000;
/** Sufficient for attacks that run again. */
const COPIES = 200;
const COPY_DEADLINE_MS = 10_000;
const LIVE_DEADLINE_MS = 3_000;
const CALLS = 20;
const MIB = 1024 * 1024;
/** Headers in which a copy differs from its original request. */
const OF_COPIES = /^(?:host|connection|modgate-deadline-ms|modgate-candidate)$/i;

/** Each GET call of these modules is copied, with the credentials for the provider in `config`. */
export function createCopiedModules(candidateUrl: string, config: object): OwnModules {
  const copied = {
    config,
    candidate: { endpoints: [candidateUrl], share: 1, concurrency: COPIES },
    limits: { timeout_ms: COPY_TIMEOUT_MS },
  };
  const names = ['copied', ...Object.keys(SLOW).map((kind) => `copied-${kind}`)];
  return Object.fromEntries(names.map((name) => [name, copied]));
}

/** Hostile responses of the candidate. @param bystander a server that no request may reach */
export function createCandidateScripts(bystander: string): Scripts {
  const names = JSON.stringify({ ok: true, [COPIED_NAME]: COPIED_NAME });
  return {
    '/answers/copy-redirect': ({ headers }, response) => {
      const location = `${bystander}/copies/${headers['x-request-id']}`;
      response.writeHead(307, { location }).end();
    },
    '/answers/copy-other': respond(500, '{"ok":"candidate"}', { 'set-cookie': 'candidate=1' }),
    '/answers/copy-names': respond(200, names),
    '/answers/copy-echo': ({ headers: { authorization = '' } }, response) => {
      const token = authorization.replace('Bearer ', '');
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ok: true, [token]: token }));
    },
    // Hangs until the host cancels the copy.
    '/answers/copy-hang': () => {},
    '/answers/copy-endless': (_, response) => {
      response.writeHead(200, JSON_TYPE).write('[');
      const timer = setInterval(() => response.write('1,'), 10);
      response.on('close', () => clearInterval(timer));
    },
    '/answers/copy-large': respond(200, Buffer.alloc(50 * MIB, '1')),
  };
}

const sendCopied = (kind: string, module = 'copied') => ({
  target: `/modules/${module}/http/answers/copy-${kind}`,
});

export const CANDIDATE_CASES: readonly Attack[] = [
  {
    id: 'candidate-credentials',
    title: 'a copy with more than the credentials for the provider',
    attack: async (scene) => {
      const headers = [
        ['cookie', `session=${scene.mark}`],
        ['modgate-candidate', 'forged'],
      ] as const;
      await callCopied(scene, { target: '/modules/copied/http/items', headers });
      const copy = await waitForCopy(scene);
      const expected = listReceived(scene, scene.provider).flatMap(listHeaders);
      const added = listHeaders(copy).find((header) => !expected.includes(header));
      if (added !== undefined) return `the copy has another ${added.split(':')[0]}`;
      const text = copy.rawHeaders.join('\n') + copy.body.toString();
      return text.includes(`${scene.token}`) ? 'the copy has the token of the caller' : null;
    },
  },
  {
    id: 'candidate-redirect',
    title: 'a candidate that redirects its copies',
    attack: async (scene) => {
      await callCopied(scene, sendCopied('redirect'));
      await waitForCopy(scene);
      return checkLate(scene, () => expectBystanderUncalled(scene));
    },
  },
  {
    id: 'candidate-answer',
    title: 'an answer of a candidate that the caller gets',
    attack: async (scene) => {
      const { headers } = await callCopied(scene, sendCopied('other'));
      if (headers.some(([name]) => name === 'set-cookie')) return 'the caller got a cookie';
      await waitForCopy(scene);
      return null;
    },
  },
  {
    id: 'candidate-method',
    title: 'a POST that is carried out twice',
    attack: async (scene) => {
      const target = '/modules/copied/http/items';
      await callCopied(scene, { method: 'POST', target, body: '{}' });
      return checkLate(scene, () => {
        const { candidate, provider } = scene;
        if (listReceived(scene, candidate).length > 0) return 'the candidate got the POST';
        return listReceived(scene, provider).length > 1 ? 'the provider got the POST twice' : null;
      });
    },
  },
  findValues('names', 'values that serve as names, in the differences'),
  findValues('echo', 'a credential that a candidate repeats, in the differences'),
  ...Object.entries(SLOW).map(
    ([kind, title]): Attack => ({
      id: `candidate-${kind}`,
      title,
      attack: async (scene) => {
        for (let count = 0; count < CALLS; count += 1) {
          await callCopied(scene, sendCopied(kind, `copied-${kind}`), LIVE_DEADLINE_MS);
        }
        await waitForCopy(scene);
        return null;
      },
    }),
  ),
];

/** Expects that `GET /candidate` shows the attack's call without values. */
function findValues(kind: string, title: string): Attack {
  return {
    id: `candidate-${kind}`,
    title,
    attack: async (scene) => {
      await callCopied(scene, sendCopied(kind));
      const report = await waitFor('the difference is not listed', COPY_DEADLINE_MS, async () => {
        const response = await sendOnce(scene, { target: '/candidate?module=copied' }, 200);
        return response.body.includes(`"request_id":"${scene.mark}"`) ? response : null;
      });
      const isShown = report.body.includes(COPIED_NAME);
      return isShown ? 'the differences have a value' : expectNoSecrets(scene, report);
    },
  };
}

/** Returns the response of the live provider. @throws AttackFailure for another one. */
async function callCopied(
  scene: Scene,
  request: CraftedRequest,
  deadlineMs?: number,
): Promise<ReceivedResponse> {
  const late = deadlineMs === undefined ? [] : [pause(deadlineMs, null)];
  const response = await Promise.race([sendOnce(scene, request, 200), ...late]);
  if (response === null) throw new AttackFailure('the caller had to wait');
  const isLive = JSON.stringify(parseObject(response.body)?.['data']) === '{"ok":true}';
  if (!isLive) throw new AttackFailure('the caller got another answer');
  return response;
}

/** The first copy of the attack's calls. */
function waitForCopy(scene: Scene): Promise<ReceivedRequest> {
  const read = () => listReceived(scene, scene.candidate)[0] ?? null;
  return waitFor('the candidate got no copy', COPY_DEADLINE_MS, read);
}

function listHeaders({ rawHeaders }: ReceivedRequest): string[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || OF_COPIES.test(name)
      ? []
      : `${name.toLowerCase()}: ${rawHeaders[index + 1]}`,
  );
}
