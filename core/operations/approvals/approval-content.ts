import { type DangerLevel, escapeBlanks, escapeLine } from '../../contract/index.js';
import type { StoredApproval } from '../../store/approvals.js';
import { type ManifestWords, showWords } from './manifest-words.js';
import { showArguments } from './visible-arguments.js';

/** The complete call as it will be sent, for the person who decides. */
export interface ApprovalContent extends ManifestWords {
  /** `GET /contacts/{id}` of a route; the name of an entity or an action. */
  readonly name: string;
  readonly operation_kind: string;
  readonly danger_level: DangerLevel;
  /** The canonical JSON text. */
  readonly arguments: string;
  /** The caller's headers that the provider receives. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly config_digest: string;
  readonly request_id: string;
}

/** Describes a request in lists. */
export function describeApproval(approval: StoredApproval) {
  const { id, kind, status, module, operation, requested_at, expires_at } = approval;
  const content = readContent(approval);
  const { name, operation_kind, danger_level } = content;
  return {
    ...{ id, kind, status, module, operation_kind, danger_level },
    operation: escapeLine(operation),
    name: escapeLine(name),
    summary: showWords(content).summary,
    actor: { kind: approval.actor_kind, id: escapeLine(approval.actor_id) },
    requested_at,
    expires_at,
    ...describeDecision(approval),
  };
}

/** Describes a request with all parts that the decision covers. */
export function describeApprovalDetails(approval: StoredApproval, previous: StoredApproval | null) {
  const content = readContent(approval);
  return {
    ...describeApproval(approval),
    ...showWords(content),
    ...showArguments(content.arguments),
    headers: content.headers.map(({ name, value }) => ({ name, value: escapeBlanks(value) })),
    config_digest: content.config_digest,
    request_id: content.request_id,
    previous: previous && {
      id: previous.id,
      actor: { kind: previous.actor_kind, id: previous.actor_id },
      ...describeDecision(previous),
      ...showArguments(readContent(previous).arguments),
    },
  };
}

function describeDecision({ decided_at, decider_kind, decider_id, reason }: StoredApproval) {
  return { decided_at, decided_by: decider_kind && { kind: decider_kind, id: decider_id }, reason };
}

function readContent({ content }: StoredApproval): ApprovalContent {
  return content as ApprovalContent;
}
