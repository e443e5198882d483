/** The statuses of `provider_error`: those that `provider_errors: passthrough` forwards. */
export const PASSTHROUGH_STATUSES = [400, 404, 409, 410, 412, 422, 429] as const;
