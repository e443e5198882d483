import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { call, hasScope, isSignedIn, session } from './api.js';
import { connect, connection, disconnect } from './live.js';
import { pathTo, segments } from './location.js';
import { dataOf, listPages } from './pages.js';
import type { Problem } from './types.js';
import { ProblemBox } from './ui/parts.js';

const CONNECTION_TEXT = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost, trying again',
  polling: 'Other windows are live: modules are read every 5 seconds',
};

const signOutProblem = signal<Problem | null>(null);

export function Layout({ children }: { children: ComponentChildren }) {
  const actor = session.value?.actor;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <aside>
          <a class="brand" href={pathTo()}>
            <Logo /> modgate
          </a>
          <Navigation />
          <p class={`connection ${connection.value}`} role="status">
            {CONNECTION_TEXT[connection.value]}
          </p>
        </aside>
        <div class="column">
          <div class="topbar">
            <span class="who" title={actor?.scopes.join('\n') ?? ''}>
              {actor?.kind} <b>{actor?.id}</b>
            </span>
            <ThemeButton />
            <button type="button" class="quiet" onClick={() => void signOut()}>
              Sign out
            </button>
          </div>
          <main id="main" tabIndex={-1}>
            {signOutProblem.value && <ProblemBox problem={signOutProblem.value} />}
            {children}
          </main>
        </div>
      </div>
    </>
  );
}

function Navigation() {
  const [current = ''] = segments.value;
  return (
    <nav aria-label="Pages">
      <ul>
        {listPages().map((page) => {
          const { name, label } = page;
          const { scope } = dataOf(page);
          return (
            <li key={name}>
              {scope === null || hasScope(scope) ? (
                <a
                  href={name === '' ? pathTo() : pathTo(name)}
                  {...(current === name && { 'aria-current': 'page' })}
                >
                  {label}
                </a>
              ) : (
                <span class="disabled" aria-disabled="true" title={`needs the scope ${scope}`}>
                  {label} <small>needs {scope}</small>
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const theme = signal<Theme>('auto');

/** Loads the choice from the browser. */
export function loadTheme(): void {
  const stored = withStorage((storage) => storage.getItem('modgate.theme'));
  setTheme(THEMES.find((theme) => theme === stored) ?? 'auto');
}

function setTheme(next: Theme): void {
  theme.value = next;
  if (next === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  withStorage((storage) => storage.setItem('modgate.theme', next));
}

/** A browser that keeps no data of the page throws: the choice is then that of this page. */
function withStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

function ThemeButton() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto';
  return (
    <button type="button" class="quiet" onClick={() => setTheme(next)}>
      Theme: {theme.value}
    </button>
  );
}

export function Logo() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M8 23V12a3 3 0 0 1 6 0v11M18 23V12a3 3 0 0 1 6 0v11M6 23h20" />
    </svg>
  );
}

/** Keeps the page signed in if the session could not be ended, because it is still valid. */
async function signOut(): Promise<void> {
  disconnect();
  const answer = await call('DELETE', '/session');
  if (answer.ok) session.value = null;
  else if (isSignedIn()) connect();
  signOutProblem.value = answer.ok || !isSignedIn() ? null : answer.problem;
}
