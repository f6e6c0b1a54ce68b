import { checkedContentId } from '../sections/tls-values.ts'
import { hex } from './filter-text.ts'

/** The backend that compares passwords: a process of the domain's own (`password-checker.ts`). */
export const USERS_BACKEND = 'users'
/** Its socket, in the chroot of the process. */
export const USERS_SOCKET = 'users'

/** In milliseconds. `authorizers.lua` waits this long for an answer. */
const MOST_MS = 10_000

/** Asked over the frontend of `mirrors.ts`, as authorizers are. */
export const usersBackend: readonly string[] = [
  `backend ${USERS_BACKEND} from relay-backend`,
  '    timeout connect 1000ms',
  `    timeout server ${MOST_MS}ms`,
  `    server passwords unix@/${USERS_SOCKET}`,
]

/**
 * What `authorizers.lua` asks, as `authorizerText`: of the request only its credentials.
 * @param users content id of the list
 */
export const usersText = (realm: string, users: string, answersPreflights: boolean): string =>
  [
    `users:${checkedContentId(users)}`,
    `method:${hex('GET')}`,
    `host:${hex(USERS_BACKEND)}`,
    `path:${hex('/')}`,
    'send:',
    `set:${hex('x-spout-users')}:${hex(users)}`,
    `set:${hex('x-spout-realm')}:${hex(realm)}`,
    'take:',
    'cookies:never',
    ...(answersPreflights ? ['cors:'] : []),
  ]
    .map((step) => `/${step}`)
    .join('')
