/** The pages. */
export const CONSOLE = '/console';
export const API = `${CONSOLE}/api`;
export const OIDC = `${API}/oidc`;
