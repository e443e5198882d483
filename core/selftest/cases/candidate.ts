import { setTimeout as pause } from 'node:timers/promises';
import type { Attack, Verdict } from '../attack-case.js';
import { AttackFailure, expectNoSecrets, parseObject, sendOnce } from '../expectations.js';
import type { ReceivedResponse } from '../raw-http.js';
import type { RecordedRequest, Script } from '../recording-provider.js';
import type { CraftedRequest } from '../request-bytes.js';
import { listReceived, requireOwn, type Scene } from '../scene.js';

/** Each of its GET calls is copied to a candidate, with the credentials for its provider. */
const COPIED_MODULE = 'copied';
/** Modules with slow or endless copies; each has its own limit of copies. */
const SLOWLY_COPIED = ['hang', 'endless', 'large'] as const;
export const COPIED_MODULES = [COPIED_MODULE, ...SLOWLY_COPIED.map(slowModuleOf)];
/** The name of a member that looks like a value. */
export const COPIED_NAME = 'bob.4711@mail.test';

/** Longer than the deadline of a live response. */
const COPY_TIMEOUT_MS = 5_000;
/** Sufficient for attacks that run again. */
const COPIES = 200;
const LARGE_MIB = 50;
const COPY_DEADLINE_MS = 10_000;
/** The deadline of a live response. */
const LIVE_DEADLINE_MS = 3_000;
const POLL_MS = 10;
const CALLS = 20;
const MIB = 1024 * 1024;
/** Headers in which a copy differs from its original request. */
const OF_COPIES = /^(?:host|connection|modgate-deadline-ms|modgate-candidate)$/i;

const SLOW_TITLES = {
  hang: 'a candidate that never answers',
  endless: 'a candidate whose answers never end',
  large: `a candidate whose answers have ${LARGE_MIB} MiB`,
};

/** Returns the members of a descriptor. */
export function describeCopiedModule(module: string, url: string): object {
  if (!COPIED_MODULES.includes(module)) return {};
  return {
    candidate: { endpoints: [url], share: 1, concurrency: COPIES },
    limits: { timeout_ms: COPY_TIMEOUT_MS },
  };
}

/** Hostile responses of the candidate. @param bystander a server that no request may reach */
export function createCandidateScripts(bystander: string): ReadonlyMap<string, Script> {
  const scripts: Readonly<Record<string, Script>> = {
    redirect: ({ headers }, response) => {
      const location = `${bystander}/copies/${headers['x-request-id']}`;
      response.writeHead(307, { location }).end();
    },
    other: (_, response) => {
      respond(response, 500, { ok: 'candidate' }, { 'set-cookie': 'candidate=1' });
    },
    names: (_, response) => respond(response, 200, { ok: true, [COPIED_NAME]: COPIED_NAME }),
    echo: ({ headers: { authorization = '' } }, response) => {
      const token = authorization.replace('Bearer ', '');
      respond(response, 200, { ok: true, [token]: token });
    },
    hang: () => {
      // Hangs until the host cancels the copy.
    },
    endless: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[');
      const timer = setInterval(() => response.write('1,'), POLL_MS);
      response.on('close', () => clearInterval(timer));
    },
    large: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[');
      let remainingMib = LARGE_MIB;
      const write = () => {
        while (remainingMib > 0) {
          remainingMib -= 1;
          if (!response.write(`"${'x'.repeat(MIB)}",`)) return;
        }
        response.end('1]');
      };
      response.on('drain', write);
      write();
    },
  };
  return new Map(Object.entries(scripts).map(([kind, script]) => [pathOf(kind), script]));
}

export const CANDIDATE_CASES: readonly Attack[] = [
  {
    id: 'candidate-credentials',
    title: 'a copy with more than the credentials for the provider',
    attack: async (scene) => {
      const headers = [
        ['cookie', `session=${scene.mark}`],
        ['modgate-candidate', 'forged'],
      ] as const;
      await callCopied(scene, { headers });
      const copy = await waitForCopy(scene);
      if (copy === null) return 'the candidate got no copy';
      const [live] = listReceived(scene, requireOwn(scene).provider);
      if (live === undefined) return 'the live provider was not called';
      const [expected, copied] = [listHeaders(live), listHeaders(copy)];
      const unexpectedHeader = copied.find((header) => !expected.includes(header));
      if (unexpectedHeader !== undefined)
        return `the copy has another ${unexpectedHeader.split(':')[0]}`;
      const text = copy.rawHeaders.join('\n') + copy.body.toString();
      return text.includes(`${scene.token}`) ? 'the copy has the token of the caller' : null;
    },
  },
  {
    id: 'candidate-redirect',
    title: 'a candidate that redirects its copies',
    attack: async (scene) => {
      await callCopied(scene, { target: targetOf('redirect') });
      if ((await waitForCopy(scene)) === null) return 'the candidate got no copy';
      const check = (): Verdict => {
        const { bystander } = requireOwn(scene);
        return listReceived(scene, bystander).length > 0 ? 'the redirect was followed' : null;
      };
      scene.lateChecks.push(check);
      return check();
    },
  },
  {
    id: 'candidate-answer',
    title: 'an answer of a candidate that the caller gets',
    attack: async (scene) => {
      const response = await callCopied(scene, { target: targetOf('other') });
      if (response.headers.some(([name]) => name === 'set-cookie'))
        return 'the caller got a cookie';
      return (await waitForCopy(scene)) === null ? 'the candidate got no copy' : null;
    },
  },
  {
    id: 'candidate-method',
    title: 'a POST that is carried out twice',
    attack: async (scene) => {
      await callCopied(scene, { method: 'POST', body: '{}' });
      const check = (): Verdict => {
        const { candidate, provider } = requireOwn(scene);
        if (listReceived(scene, candidate).length > 0) return 'the candidate got the POST';
        return listReceived(scene, provider).length > 1 ? 'the provider got the POST twice' : null;
      };
      scene.lateChecks.push(check);
      return check();
    },
  },
  ...(['names', 'echo'] as const).map(
    (kind): Attack => ({
      id: `candidate-${kind}`,
      title:
        kind === 'echo'
          ? 'a credential that a candidate repeats, in the differences'
          : 'values that serve as names, in the differences',
      attack: async (scene) => {
        await callCopied(scene, { target: targetOf(kind) });
        const report = await waitForDifference(scene);
        return report.body.includes(COPIED_NAME)
          ? 'the differences have a value'
          : expectNoSecrets(scene, report);
      },
    }),
  ),
  ...SLOWLY_COPIED.map(
    (kind): Attack => ({
      id: `candidate-${kind}`,
      title: SLOW_TITLES[kind],
      attack: async (scene) => {
        const target = targetOf(kind, slowModuleOf(kind));
        for (let count = 0; count < CALLS; count += 1) {
          await callCopied(scene, { target }, LIVE_DEADLINE_MS);
        }
        return (await waitForCopy(scene)) === null ? 'the candidate got no copy' : null;
      },
    }),
  ),
];

/** Returns the response of the live provider. @throws AttackFailure for another one. */
async function callCopied(
  scene: Scene,
  request: CraftedRequest,
  deadlineMs?: number,
): Promise<ReceivedResponse> {
  const target = `/modules/${COPIED_MODULE}/http/items`;
  const sent = sendOnce(scene, { target, ...request }, 200);
  const late = deadlineMs === undefined ? [] : [pause(deadlineMs, null)];
  const response = await Promise.race([sent, ...late]);
  if (response === null) throw new AttackFailure('the caller had to wait');
  const isLive = JSON.stringify(parseObject(response.body)?.['data']) === '{"ok":true}';
  if (!isLive) throw new AttackFailure('the caller got another answer');
  return response;
}

/** The first copy of the attack's calls; `null` if none arrives in time. */
async function waitForCopy(scene: Scene): Promise<RecordedRequest | null> {
  const deadline = performance.now() + COPY_DEADLINE_MS;
  while (performance.now() < deadline) {
    const [copy] = listReceived(scene, requireOwn(scene).candidate);
    if (copy !== undefined) return copy;
    await pause(POLL_MS);
  }
  return null;
}

/** Waits for the response of `GET /candidate` with the attack's call. */
async function waitForDifference(scene: Scene): Promise<ReceivedResponse> {
  const target = `/candidate?module=${COPIED_MODULE}`;
  const deadline = performance.now() + COPY_DEADLINE_MS;
  while (performance.now() < deadline) {
    const response = await sendOnce(scene, { target }, 200);
    if (response.body.includes(`"request_id":"${scene.mark}"`)) return response;
    await pause(POLL_MS);
  }
  throw new AttackFailure('the difference is not listed');
}

function listHeaders({ rawHeaders }: RecordedRequest): string[] {
  return rawHeaders.flatMap((name, index) => {
    if (index % 2 === 1 || OF_COPIES.test(name)) return [];
    return `${name.toLowerCase()}: ${rawHeaders[index + 1]}`;
  });
}

function slowModuleOf(kind: (typeof SLOWLY_COPIED)[number]): string {
  return `copied-${kind}`;
}

function pathOf(kind: string): string {
  return `/answers/copy-${kind}`;
}

function targetOf(kind: string, module = COPIED_MODULE): string {
  return `/modules/${module}/http${pathOf(kind)}`;
}

function respond(
  response: Parameters<Script>[1],
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
