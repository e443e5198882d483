import './style/index.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { session } from './api.js';
import { App } from './app.js';
import { loadTheme } from './layout.js';
import { connect, disconnect, followVisibility } from './live.js';
import { followLinks } from './location.js';
import { loadSession } from './pages/sign-in.js';

const loaded = loadSession();
// Meanwhile, since the first access to the storage of the browser takes long.
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
await loaded;
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
