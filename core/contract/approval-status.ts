import { array, boolean, nullable, number, string, type } from 'superstruct';
import { type Answer, actorStruct, member } from './members.js';

const approval = {
  id: member(string(), 'of the request'),
  status: member(string(), '`pending`, `approved`, `rejected` or `used`'),
  module: member(string(), 'the name of the module'),
  name: member(string(), '`GET /contacts/{id}` of a route; the name of an entity or an action'),
  summary: member(nullable(string()), 'the summary or label of the manifest; `null` without one'),
  danger_level: member(string(), 'of the operation'),
  actor: member(actorStruct, 'who requested the call'),
  requested_at: member(string(), 'when it was requested'),
  expires_at: member(string(), 'when the request, the approval or the rejection expires'),
  reason: member(
    nullable(string()),
    'why it was rejected, without invisible characters; `null` without a reason',
  ),
};

const approvalEntry = type(approval);

/** The response to `GET /approvals`. */
export const approvalList = type({ approvals: member(array(approvalEntry), 'the requests') });

const shownArguments = {
  /** JSON text, one member a line, without invisible characters. */
  arguments: string(),
  has_invisible: boolean(),
  members: number(),
  bytes: number(),
};

/** The response to `GET /approvals/{id}`. Its texts have no invisible characters. */
export const approvalDetails = type({
  ...approval,
  description: nullable(string()),
  confirmation: nullable(type({ message: string(), required_phrase: nullable(string()) })),
  ...shownArguments,
  headers: array(type({ name: string(), value: string() })),
  previous: nullable(type({ ...shownArguments, actor: actorStruct, decided_at: string() })),
  decided_at: nullable(string()),
  decided_by: nullable(actorStruct),
});

/** A request for approval, without the arguments of the call. */
export type ListedApproval = Answer<typeof approvalEntry>;

/** A request for approval with all parts that the decision covers. */
export type ApprovalDetails = Answer<typeof approvalDetails>;
