import { BUILTIN_UI, DIGEST } from '../../descriptor/identifiers.js';
import { HostError } from '../../errors.js';
import { listPermittedParts } from '../../manifest/list-opened.js';
import type { RoutedModule } from '../../modules/live-module.js';
import { type Authorization, releaseDigestOf } from '../authorization.js';
import { decideScope } from '../explain/decide-scope.js';
import type { ExplainedBridgeCall } from '../explain/explained-request.js';
import { decide, fail, unknown } from '../explain/step-report.js';
import { actorStep, clientStep, explainModule } from '../forward/access-steps.js';
import { assertSignedBody } from '../forward/body-policy.js';
import { connectionStep } from '../forward/call-steps.js';
import type { Caller } from '../forward/route-call.js';
import { rateStep } from '../rate-limit.js';
import type { ReportedStep } from '../step.js';
import type { BridgeAttempt } from './bridge-attempt.js';
import type { BridgePayload } from './bridge-payload.js';
import { type BridgeRequest, parseBridgeRequest } from './bridge-request.js';

export const HANDLED_BY_BRIDGE = 'the console bridge handles it, by its grants';

const FORBIDDEN = 403;

/** The subject of the steps before the operation: a request, or an explained one. */
interface BridgeRules {
  readonly request: Caller;
  readonly authorization: Authorization;
  readonly permission: string;
  readonly module: RoutedModule | null;
  /** Records the module of a request. */
  recordModule?(): void;
}

type RuleStep = ReportedStep<BridgeRules, ExplainedBridgeCall>;
type BridgeStep = ReportedStep<BridgeAttempt, ExplainedBridgeCall>;

const routeStep: RuleStep = {
  name: 'route',
  run({ request }) {
    if (request.method === 'POST') return;
    throw new HostError('not_found', 'the console bridge takes POST alone', {
      nextActions: ['send a POST'],
    });
  },
  explain(explained) {
    return decide(
      () => this.run(explained),
      HANDLED_BY_BRIDGE,
      () => ({ detail: 'the console bridge takes POST alone', next_actions: [] }),
    );
  },
};

const bodyStep: BridgeStep = {
  name: 'body',
  async run(call) {
    call.body = await call.input.readBody();
    call.facts.bytesIn = call.body.length;
    call.sent = parseBridgeRequest(call.body);
    assertPermissionsMatch(call.sent, call.permission);
  },
  explain: () => unknown('checked when it arrives; an invalid body is 400'),
};

const signatureStep: BridgeStep = {
  name: 'actor',
  run: ({ request, body }) => assertSignedBody(request, body),
};

const permissionStep: RuleStep = {
  name: 'permission',
  run({ authorization, request, permission }) {
    authorization.admitPermission(request.actor, permission);
  },
  explain(explained) {
    const { caller, permission } = explained;
    if (caller === null) return unknown(`requires ${permission}`);
    const rule = () => this.run(explained);
    return decideScope(rule, permission, `the actor holds ${permission}`, { ...explained, caller });
  },
};

const moduleStep: RuleStep = {
  name: 'module',
  run(call) {
    call.recordModule?.();
    if (call.module !== null) return;
    throw new HostError('not_found', 'no live module has this name', {
      errors: [{ field: 'module', reason: 'not live' }],
    });
  },
  explain(explained) {
    return explainModule(() => this.run(explained), explained.name, explained);
  },
};

const NO_MODULE = 'there is no module';

const grantStep: RuleStep = {
  name: 'grant',
  run({ authorization, module, permission }) {
    authorization.admitGrant(assertFound(module), permission);
  },
  explain(explained) {
    const { permission, module, record } = explained;
    if (module === null) return unknown(NO_MODULE);
    const file = record?.file;
    return decide(
      () => this.run(explained),
      `${file} grants ${permission}, ${describeOpened(permission, module)}`,
      () => ({
        detail: `${file} does not grant ${permission}`,
        next_actions: [`add ${permission} to console.grants in ${file}`],
      }),
    );
  },
};

// The digests are in the body, so an explanation can only list the accepted ones.
const releaseStep: BridgeStep = {
  name: 'release',
  run({ authorization, liveModule, sent }) {
    authorization.admitRelease(liveModule, sent.moduleReleaseDigest);
  },
  explain({ module }) {
    if (module === null) return unknown(NO_MODULE);
    return unknown(`moduleReleaseDigest in the body must be ${releaseDigestOf(module)}`);
  },
};

const uiStep: BridgeStep = {
  name: 'ui',
  run({ authorization, liveModule, sent, shippedUi }) {
    authorization.admitUi(liveModule, sent.uiArtifactDigest, shippedUi);
  },
  explain({ module, record }) {
    if (module === null) return unknown(NO_MODULE);
    const { ui } = module.descriptor.console;
    if (ui.length > 0) {
      const accepted = ui.map(describeUi).join(' or ');
      return unknown(`uiArtifactDigest in the body must be ${accepted}`);
    }
    return fail(FORBIDDEN, {
      detail: `${record?.file} lists no UI artifact`,
      next_actions: [`add its digest to console.ui in ${record?.file}`],
    });
  },
};

const operationStep: BridgeStep = {
  name: 'operation',
  run({ operation, sent, operationCall }) {
    if (!operation.isDeclared(sent.payload, operationCall)) throw createNotDeclared(sent.payload);
  },
};

const executeStep: BridgeStep = {
  name: 'provider',
  async run(call) {
    call.data = await call.operation.execute(call.sent.payload, call.operationCall);
  },
};

/** The steps of a request to the console bridge, in order, with the statuses of those that fail. */
export const BRIDGE_STEPS: readonly BridgeStep[] = [
  clientStep, // 403
  actorStep, // 401, 403, 429, 503
  routeStep, // 404
  // Before a byte of the body is read.
  permissionStep, // 403
  connectionStep, // 400
  bodyStep, // 400, 408, 502
  signatureStep, // 401
  moduleStep, // 404
  grantStep, // 403
  releaseStep, // 403
  uiStep, // 403
  rateStep, // 429, 503
  operationStep, // 403
  executeStep, // 400, 502, 503
];

function describeOpened(permission: string, { manifest }: RoutedModule): string {
  const opened = listPermittedParts(permission, manifest);
  return opened.length === 0
    ? 'which opens no entity, action or configuration'
    : `which opens ${opened.join(', ')}`;
}

function describeUi(digest: string): string {
  return digest === BUILTIN_UI ? 'that of a surface that ships with the host' : digest;
}

function assertFound<Module extends RoutedModule>(module: Module | null): Module {
  if (module === null) throw new Error('the step of the module comes first');
  return module;
}

/** @throws HostError 400 if path and body disagree, and for a malformed digest. */
function assertPermissionsMatch(request: BridgeRequest, permission: string): void {
  if (request.permission !== permission) {
    throw new HostError('validation_failed', 'the permissions of path and body differ', {
      errors: [{ field: 'permission', reason: 'not the one of the path' }],
    });
  }
  const errors = (['moduleReleaseDigest', 'uiArtifactDigest'] as const)
    .filter((field) => !DIGEST.test(request[field]))
    .map((field) => ({ field, reason: 'expected sha256: and 64 lower-case hex digits' }));
  if (errors.length === 0) return;
  throw new HostError('validation_failed', 'a digest is malformed', { errors });
}

function createNotDeclared({ operation }: BridgePayload): HostError {
  return new HostError(
    'forbidden',
    'the module does not declare the operation for this permission',
    {
      errors: [
        { field: 'payload.operation', reason: `${operation} is not declared for the permission` },
      ],
      nextActions: ['check the names against the manifest of the module'],
    },
  );
}
