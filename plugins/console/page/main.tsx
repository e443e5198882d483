import './style/index.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { isSignedIn, session } from './api.js';
import { followEdits } from './edits.js';
import { Layout, loadTheme } from './layout.js';
import { connect, disconnect, followVisibility, reconnect } from './live.js';
import { followLinks, query, segments } from './location.js';
import { loadSession, SignIn } from './pages/sign-in.js';
import { dataOf, listPages } from './pages.js';
import { Empty, Loading, PageHead, useTitleFocus } from './ui/parts.js';

const loaded = loadSession();
// Runs meanwhile, since the first access to the storage of the browser takes long.
loadTheme();
followLinks();
followEdits();
let connectedAs: string | null = null;
let wasConnected = false;
effect(() => {
  const id = isSignedIn() ? (session.value?.id ?? null) : null;
  if (id === connectedAs) return;
  connectedAs = id;
  if (id === null) disconnect();
  else if (wasConnected) reconnect();
  else connect();
  wasConnected ||= id !== null;
});
document.addEventListener('visibilitychange', followVisibility);
// Another tab may have signed in meanwhile.
addEventListener('focus', () => {
  if (session.value !== undefined && !isSignedIn()) void loadSession();
});
await loaded;
const root = document.getElementById('app');
if (root !== null) render(<App />, root);

function App() {
  useTitleFocus(`${isSignedIn() && session.value?.id} ${segments.value.join('/')}`);
  if (session.value === undefined) return <Loading />;
  const { actor } = session.value ?? {};
  return (
    <>
      {!isSignedIn() && <SignIn />}
      {/* A form survives the end of its session: it is there again for the same actor only. */}
      {actor && (
        <div key={`${actor.kind} ${actor.id}`} hidden={!isSignedIn()}>
          <Content />
        </div>
      )}
    </>
  );
}

function Content() {
  const [name = '', ...rest] = segments.value;
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
