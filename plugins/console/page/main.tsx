import './style/index.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { session } from './api.js';
import { Layout, loadTheme } from './layout.js';
import { connect, disconnect, followVisibility } from './live.js';
import { followLinks, query, segments } from './location.js';
import { loadSession, SignIn } from './pages/sign-in.js';
import { dataOf, listPages } from './pages.js';
import { Empty, Loading, PageHead, useTitleFocus } from './ui/parts.js';

const loaded = loadSession();
// Runs meanwhile, since the first access to the storage of the browser takes long.
loadTheme();
followLinks();
let connectedAs: string | null = null;
effect(() => {
  const id = session.value?.id ?? null;
  if (id === connectedAs) return;
  connectedAs = id;
  if (id === null) disconnect();
  else connect();
});
document.addEventListener('visibilitychange', followVisibility);
// Another tab may have signed in meanwhile.
addEventListener('focus', () => {
  if (session.value === null) void loadSession();
});
await loaded;
const root = document.getElementById('app');
if (root !== null) render(<App />, root);

function App() {
  const [name = '', ...rest] = segments.value;
  useTitleFocus(`${session.value?.id} ${segments.value.join('/')}`);
  if (session.value === undefined) return <Loading />;
  if (session.value === null) return <SignIn />;
  // The name of a module is one segment: its slash is encoded.
  const maxParts = name === 'modules' ? 1 : 0;
  const page = listPages().find((one) => one.name === name && rest.length <= maxParts);
  // A new question resets the form.
  const key = name === 'explain' ? String(query.value.get('request_id')) : name;
  return <Layout>{page ? <page.Content key={key} of={dataOf(page)} /> : <NotFound />}</Layout>;
}

function NotFound() {
  return (
    <>
      <PageHead title="Page not found" />
      <Empty title="There is no such page">Choose one from the navigation.</Empty>
    </>
  );
}
