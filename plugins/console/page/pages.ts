import type { JSX } from 'preact';
import { ApiPage } from './pages/api.js';
import { ApprovalsPage } from './pages/approvals.js';
import { AuditPage } from './pages/audit.js';
import { CallsPage } from './pages/calls.js';
import { ExplainPage } from './pages/explain.js';
import { ModulesPage } from './pages/modules.js';
import { Overview } from './pages/overview.js';
import { PluginsPage } from './pages/plugins.js';
import { ReleasesPage } from './pages/releases.js';

interface Page {
  /** The first segment below `/console`. */
  readonly name: string;
  readonly label: string;
  /** The scope that the data of the page requires. */
  readonly scope: string | null;
  readonly Content: () => JSX.Element;
}

/** The pages of the console, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  { name: '', label: 'Overview', scope: 'modgate.modules.read', Content: Overview },
  { name: 'modules', label: 'Modules', scope: 'modgate.modules.read', Content: ModulesPage },
  { name: 'calls', label: 'Calls', scope: 'modgate.calls.read', Content: CallsPage },
  { name: 'explain', label: 'Explain', scope: 'modgate.explain', Content: ExplainPage },
  { name: 'audit', label: 'Audit', scope: 'modgate.audit.read', Content: AuditPage },
  { name: 'approvals', label: 'Approvals', scope: 'modgate.approvals', Content: ApprovalsPage },
  { name: 'releases', label: 'Releases', scope: 'modgate.releases', Content: ReleasesPage },
  { name: 'api', label: 'API', scope: null, Content: ApiPage },
  { name: 'plugins', label: 'Plugins', scope: 'modgate.plugins.read', Content: PluginsPage },
];
