import type { JSX } from 'preact';
import { session } from './api.js';
import { Layout } from './layout.js';
import { query, segments } from './location.js';
import { ApiPage } from './pages/api.js';
import { AuditPage } from './pages/audit.js';
import { CallsPage } from './pages/calls.js';
import { ExplainPage } from './pages/explain.js';
import { ModulesPage } from './pages/modules.js';
import { Overview } from './pages/overview.js';
import { PluginsPage } from './pages/plugins.js';
import { SignIn } from './pages/sign-in.js';
import { Empty, Loading, PageHead, useTitleFocus } from './ui/parts.js';

const PAGES: Readonly<Record<string, () => JSX.Element>> = {
  '': Overview,
  modules: ModulesPage,
  calls: CallsPage,
  explain: ExplainPage,
  audit: AuditPage,
  api: ApiPage,
  plugins: PluginsPage,
};

export function App() {
  const [page = '', ...rest] = segments.value;
  useTitleFocus(`${session.value?.id} ${segments.value.join('/')}`);
  if (session.value === undefined) return <Loading />;
  if (session.value === null) return <SignIn />;
  // The name of a module is one segment: its slash is encoded.
  const isPage = Object.hasOwn(PAGES, page) && rest.length <= (page === 'modules' ? 1 : 0);
  const Page = isPage ? PAGES[page] : undefined;
  // Another question is another page: the form starts with it.
  const key = page === 'explain' ? String(query.value.get('request_id')) : page;
  return <Layout>{Page ? <Page key={key} /> : <NotFound />}</Layout>;
}

function NotFound() {
  return (
    <>
      <PageHead title="Page not found" />
      <Empty title="There is no such page">Choose one from the navigation.</Empty>
    </>
  );
}
