/**
 * The host names that routes of a project may name: any; all but those below the domain of another project; only those
 * below domains of its own.
 */
export const HOST_RULES = ['any', 'unclaimed', 'own'] as const
export type HostRule = (typeof HOST_RULES)[number]
