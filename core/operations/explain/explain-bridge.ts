import { BUILTIN_UI } from '../../descriptor/identifiers.js';
import { authorizePermission, releaseOf } from '../authorization.js';
import { findBridgeModule } from '../console/find-bridge-module.js';
import { attempt, checkActor, checkBody, checkModule, createCheck } from './explain-checks.js';
import {
  type ExplainedRecord,
  type ExplainedRequest,
  findRecord,
  HANDLED_BY_BRIDGE,
} from './explained-request.js';
import type { ExplainedCheck } from './explanation.js';

const FORBIDDEN = 403;
const NOT_FOUND = 404;

/** Of the module that the console bridge would call, otherwise the one with this name. */
export function findBridgeRecord(
  records: readonly ExplainedRecord[],
  name: string,
): ExplainedRecord | null {
  const live = records.flatMap((record) => record.live ?? []);
  const generation = new Map(live.map((module) => [module.name, module]));
  const module = findBridgeModule(generation, { list: () => records }, name);
  return findRecord(records, module?.name ?? name);
}

/**
 * The checks of the console bridge, in the order of the host. The digests are in the body, so it can only say
 * which ones are accepted; the Problem does not, as an explanation is for operators.
 */
export function listBridgeChecks(
  { method, actor, path }: ExplainedRequest,
  records: readonly ExplainedRecord[],
  record: ExplainedRecord | null,
): ExplainedCheck[] {
  const permission = path.kind === 'module' ? (path.segments[1] ?? '') : '';
  return [
    checkActor(actor),
    method === 'POST'
      ? createCheck('route', 'pass', HANDLED_BY_BRIDGE)
      : createCheck('route', 'fail', 'the console bridge takes POST alone', { status: NOT_FOUND }),
    checkBody(),
    actor === null
      ? createCheck('permission', 'unknown', `requires ${permission}`)
      : attempt('permission', `the actor holds ${permission}`, () =>
          authorizePermission(actor, permission),
        ),
    checkModule(path, records, record),
    ...checkGrant(permission, record),
  ];
}

function describeUi(digest: string): string {
  return digest === BUILTIN_UI ? 'that of a surface that ships with the host' : digest;
}

function checkGrant(permission: string, record: ExplainedRecord | null): ExplainedCheck[] {
  if (!record?.live) {
    const names = ['grant', 'release', 'ui'] as const;
    return names.map((name) => createCheck(name, 'unknown', 'there is no module'));
  }
  const { file, live } = record;
  const { grants, ui } = live.descriptor.console;
  const fail = (name: 'grant' | 'ui', detail: string, action: string) =>
    createCheck(name, 'fail', detail, { status: FORBIDDEN, next_actions: [action] });
  const expected = (name: 'release' | 'ui', member: string, value: string) =>
    createCheck(name, 'unknown', `${member} in the body must be ${value}`);
  return [
    grants.includes(permission)
      ? createCheck('grant', 'pass', `${file} grants ${permission}`)
      : fail(
          'grant',
          `${file} does not grant ${permission}`,
          `add ${permission} to console.grants in ${file}`,
        ),
    expected('release', 'moduleReleaseDigest', releaseOf(live)),
    ui.length === 0
      ? fail('ui', `${file} lists no UI artifact`, `add its digest to console.ui in ${file}`)
      : expected('ui', 'uiArtifactDigest', ui.map(describeUi).join(' or ')),
  ];
}
