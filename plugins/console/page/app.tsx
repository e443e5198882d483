import { session } from './api.js';
import { Layout } from './layout.js';
import { query, segments } from './location.js';
import { SignIn } from './pages/sign-in.js';
import { PAGES } from './pages.js';
import { Empty, Loading, PageHead, useTitleFocus } from './ui/parts.js';

export function App() {
  const [name = '', ...rest] = segments.value;
  useTitleFocus(`${session.value?.id} ${segments.value.join('/')}`);
  if (session.value === undefined) return <Loading />;
  if (session.value === null) return <SignIn />;
  // The name of a module is one segment: its slash is encoded.
  const maxParts = name === 'modules' ? 1 : 0;
  const page = PAGES.find((one) => one.name === name && rest.length <= maxParts);
  // Another question is another page: the form starts with it.
  const key = name === 'explain' ? String(query.value.get('request_id')) : name;
  return <Layout>{page ? <page.Content key={key} /> : <NotFound />}</Layout>;
}

function NotFound() {
  return (
    <>
      <PageHead title="Page not found" />
      <Empty title="There is no such page">Choose one from the navigation.</Empty>
    </>
  );
}
