import type { JSX } from 'preact';
import type { HostResource } from '../../../core/contract/listing.js';
import { findResource, session } from './api.js';
import { ApiPage } from './pages/api.js';
import { ApprovalsPage } from './pages/approvals.js';
import { AuditPage } from './pages/audit.js';
import { CallsPage } from './pages/calls.js';
import { ExplainPage } from './pages/explain.js';
import { ListPage } from './pages/list.js';
import { ModulesPage } from './pages/modules.js';
import { Overview } from './pages/overview.js';
import { ReleasesPage } from './pages/releases.js';

interface Page {
  /** The first segment below `/console`. */
  readonly name: string;
  readonly label: string;
  readonly Content: (props: { of: HostResource }) => JSX.Element;
  /** The route of the host with its data, whose scope it requires. Default: that of its name. */
  readonly path?: string;
}

const PAGES: readonly Page[] = [
  { name: '', label: 'Overview', Content: Overview, path: '/modules' },
  { name: 'modules', label: 'Modules', Content: ModulesPage },
  { name: 'calls', label: 'Calls', Content: CallsPage },
  { name: 'explain', label: 'Explain', Content: ExplainPage },
  { name: 'audit', label: 'Audit', Content: AuditPage },
  { name: 'approvals', label: 'Approvals', Content: ApprovalsPage },
  { name: 'releases', label: 'Releases', Content: ReleasesPage },
  { name: 'api', label: 'API', Content: ApiPage },
];

const NO_DATA: HostResource = {
  ...{ method: 'GET', path: '', scope: null, isForUsers: false, page: null, tables: [] },
};

/** The same pages, and one for each other list of the host that names its page. */
export function listPages(): readonly Page[] {
  const lists = (session.value?.resources ?? []).flatMap(({ path, page: label }): Page[] => {
    return label === null ? [] : [{ name: path.slice(1), label, Content: ListPage }];
  });
  return [...PAGES, ...lists];
}

export function dataOf({ name, path = `/${name}` }: Page): HostResource {
  return findResource(path) ?? NO_DATA;
}
