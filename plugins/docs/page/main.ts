import './page.css';
import { asObject, asText } from './api-document.js';
import { createApiView } from './api-view.js';
import { create, createField } from './dom.js';
import type { ApiRequest } from './try-it.js';

/** Kept only in memory, so that a reload of the page removes it. */
let token = '';
/** The header for the token; only `authorization` has a scheme as a prefix. */
let tokenHeader = 'authorization';

const view = create('div', { id: 'view' });
const status = create('p', { role: 'status' });

function createTokenForm(): HTMLFormElement {
  const input = create('input', {
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const header = create('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  header.value = tokenHeader;
  const callable = create('input', { type: 'checkbox' });
  const form = create(
    'form',
    { class: 'token' },
    createField('Token', input, 'It stays in the memory of this page.'),
    createField('Header', header, 'Where the host reads tokens; see --token-header.'),
    createField('Only what I may call', callable),
    create('button', { type: 'submit' }, 'Show'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    token = input.value.trim();
    tokenHeader = header.value.trim().toLowerCase() || 'authorization';
    void load(callable.checked);
  });
  return form;
}

async function load(isCallableOnly: boolean): Promise<void> {
  status.textContent = 'loading …';
  view.replaceChildren();
  try {
    const target = `/openapi.json${isCallableOnly ? '?callable=true' : ''}`;
    const headers = { accept: 'application/json' };
    const response = await send({ method: 'GET', target, headers, body: null });
    const body: unknown = await response.json();
    if (response.status !== 200) throw new Error(asText(asObject(body)['detail']));
    view.replaceChildren(createApiView(body, { send, connect }));
    status.textContent = '';
  } catch (error) {
    status.textContent = `the routes could not be loaded: ${(error as Error).message}`;
  }
}

function send({ method, target, headers, body, signal }: ApiRequest): Promise<Response> {
  return fetch(target, {
    method,
    headers: {
      ...headers,
      [tokenHeader]: tokenHeader === 'authorization' ? `Bearer ${token}` : token,
    },
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    ...(body !== null && { body }),
    ...(signal !== undefined && { signal }),
  });
}

/** Browsers send no headers here: the token is a subprotocol. */
function connect(target: string): WebSocket {
  const url = new URL(target, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const encoded = btoa(token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return new WebSocket(url, ['modgate.v1', `modgate.bearer.${encoded}`]);
}

document.querySelector('main')?.append(create('h1', {}, 'API'), createTokenForm(), status, view);
