import { array, boolean, nullable, string, type } from 'superstruct';
import { type Answer, member } from './members.js';

const reportedRole = type({
  name: member(string(), 'of the roles file'),
  description: member(nullable(string()), 'of the roles file'),
  scopes: member(array(string()), 'its scopes, without those of other roles'),
  roles: member(array(string()), 'the roles whose scopes it includes'),
});

const reportedScope = type({
  scope: member(string(), 'its name'),
  declared: member(
    nullable(boolean()),
    'whether a module or the host declares it; `null` if none does and the manifest of a module is not known',
  ),
  modules: member(
    array(type({ module: string(), opens: array(string()) })),
    'the modules that declare it, and what it opens there: `GET /items`, `entity contacts`',
  ),
});

/**
 * The response to `GET /roles`. Its size depends on the roles file, not on shared scopes.
 */
export const roleReport = type({
  roles: member(array(reportedRole), 'in the order of the file'),
  scopes: member(array(reportedScope), 'each scope of any role once'),
  not_declared: member(array(string()), 'the scopes that no module declares'),
});

/** The roles of a host, and what their scopes open. */
export type RoleReport = Answer<typeof roleReport>;

/** A scope of a role, and the routes and entities that it opens. */
export type ReportedScope = Answer<typeof reportedScope>;
