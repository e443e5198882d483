import { batch } from '@preact/signals';
import { useState } from 'preact/hooks';
import { OIDC } from '../../paths.js';
import { call, get, session, sessionEnd } from '../api.js';
import { Logo } from '../layout.js';
import { query, setQuery } from '../location.js';
import type { Problem, Session, SessionEnd, SignInMethods } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { Loading, PageHead, ProblemBox, useResource } from '../ui/parts.js';

/** Messages for a sign-in by OpenID Connect that has failed. */
const OUTCOMES: Readonly<Record<string, string>> = {
  denied: 'The sign-in was denied by the identity provider, or your account may not use this host.',
  expired: 'The sign-in took too long. Start again.',
  failed: 'The sign-in failed. Start again, or ask the people who run this host.',
  limited: 'Too many sign-ins come from your address. Try again in a minute.',
  unavailable: 'The identity provider does not respond. Try again later.',
};

const ENDS: Readonly<Record<SessionEnd, string>> = {
  signed_out: 'You signed out in another window.',
  expired: 'Your session has expired. Sign in again.',
  revoked:
    'Your session was revoked: an operator ended it, or its token is no longer valid. Sign in again.',
  unknown: 'Your session has ended. Sign in again.',
};

export function SignIn() {
  const { data: methods, problem, reload } = useResource<SignInMethods>('/sign-in');
  const outcome = query.value.get('sign_in');
  return (
    <main class="sign-in card">
      <p class="brand">
        <Logo /> modgate
      </p>
      <PageHead title="Sign in" />
      {outcome && (
        <p class="problem" role="alert">
          {OUTCOMES[outcome] ?? OUTCOMES['failed']}
        </p>
      )}
      {sessionEnd.value && (
        <p class="problem" role="alert">
          {ENDS[sessionEnd.value]}
        </p>
      )}
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {!methods && !problem && <Loading />}
      {methods && !methods.available && (
        <p class="problem" role="alert">
          {methods.reason}
        </p>
      )}
      {methods?.available && <Methods methods={methods} />}
    </main>
  );
}

function Methods({ methods: { developer, oidc } }: { methods: SignInMethods }) {
  const [token, setToken] = useState('');
  // A new document would lose the fields of the page.
  const isKept = Boolean(session.value);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const signIn = async (path: string, body?: object) => {
    setBusy(true);
    const answer = await call('POST', path, body ? { body } : {});
    setBusy(false);
    setToken('');
    setProblem(answer.ok ? null : answer.problem);
    if (answer.ok) await loadSession();
  };
  return (
    <>
      {developer && (
        <FocusableButton
          class="primary"
          isOff={isBusy}
          onClick={() => void signIn('/session/developer')}
        >
          Sign in as developer
        </FocusableButton>
      )}
      {oidc.map(({ issuer, name }) => (
        <a
          key={issuer}
          class="button primary"
          href={`${OIDC}/start?${new URLSearchParams({ issuer, return: returnPath() })}`}
          {...(isKept && { target: '_blank' })}
        >
          Sign in with {name}
        </a>
      ))}
      {isKept && oidc.length > 0 && (
        <p class="fine">
          It opens in a new tab, because this one keeps what you have entered. Come back when you
          are signed in.
        </p>
      )}
      {(developer || oidc.length > 0) && <p class="or">or</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // Spaces around a pasted token are not part of it.
          void signIn('/session', { token: token.trim() });
        }}
      >
        <label>
          Token
          <span class="help">
            The bearer token that you call the host with. The page does not keep it.
          </span>
          <input
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <FocusableButton type="submit" isOff={isBusy || token.trim() === ''}>
          Sign in
        </FocusableButton>
      </form>
      {problem && <ProblemBox problem={problem} />}
    </>
  );
}

export async function loadSession(): Promise<void> {
  const answer = await get<Session>('/session');
  // A failed call has ended the session, whose page stays.
  if (!answer.ok) {
    if (!session.value) session.value = null;
    return;
  }
  batch(() => {
    session.value = answer.data;
    sessionEnd.value = null;
  });
  // The outcome of another sign-in, which the page must not show after a sign-out.
  if (query.value.has('sign_in')) setQuery({ sign_in: null });
}

function returnPath(): string {
  const here = new URL(location.href);
  here.searchParams.delete('sign_in');
  return here.pathname + here.search;
}
