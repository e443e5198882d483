import { describeRoleOf, type Roles } from '../../auth/roles.js';
import type { Actor } from '../../contract/index.js';
import type { StepReport } from '../step.js';
import { decide } from './step-report.js';

/** The roles that texts for operators may name. */
export type ExplainedRoles = Pick<Roles, 'describeHolders'>;

/** Runs a rule that requires a scope, and names the role that adds it, or the roles that would. */
export function decideScope(
  rule: () => unknown,
  scope: string,
  passed: string,
  { caller, roles }: { readonly caller: Actor; readonly roles: ExplainedRoles },
): StepReport {
  const role = describeRoleOf(caller, scope);
  const report = decide(rule, role === null ? passed : `${passed} by its role ${role}`);
  const holders = report.outcome === 'fail' ? roles.describeHolders(scope) : null;
  if (holders === null) return report;
  const advice = `or give the actor one of the roles that have it: ${holders}`;
  return { ...report, next_actions: [...report.next_actions, advice] };
}
