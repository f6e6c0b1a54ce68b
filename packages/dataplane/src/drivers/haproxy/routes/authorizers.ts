import type { NodeAuthorizer } from '@spout/model'
import { isSet } from '../sections/is-set.ts'
import type { MapName } from '../sections/maps.ts'
import { unreadRules } from '../sections/source-share.ts'
import { hex, list } from './filter-text.ts'

/**
 * The question that an authorizer of a route is asked, as a row's value. `authorizers.lua` asks a backend, through the
 * frontend of `mirrors.ts`, whether a request may go on. So members are chosen, checked and connected to as for any
 * request, and an authorizer can only be a member.
 * @param answersPreflights whether a filter of the route answers preflight requests, which have no credentials
 */
export function authorizerText(authorizer: NodeAuthorizer, answersPreflights: boolean): string {
  const { method, host, path, pathPrefix, sendHeaders, setHeaders, takeHeaders, cookies, signIn } = authorizer
  return [
    ...(method === null ? [] : [`method:${hex(method)}`]),
    ...(host === null ? [] : [`host:${hex(host)}`]),
    ...(path === null ? [] : [`path:${hex(path)}`]),
    ...(pathPrefix === null ? [] : [`prefix:${hex(pathPrefix.replace(/\/+$/, ''))}`]),
    `send:${list(sendHeaders)}`,
    ...setHeaders.map(({ name, value }) => `set:${hex(name)}:${hex(value)}`),
    `take:${list(takeHeaders)}`,
    `cookies:${cookies}`,
    ...(signIn === null ? [] : [`sign-in:${signInText(signIn)}`]),
    ...(answersPreflights ? ['cors:'] : []),
  ]
    .map((step) => `/${step}`)
    .join('')
}

/** Added to the first of two questions. */
export const satisfyText = (satisfy: 'all' | 'any'): string => `/satisfy:${satisfy}`

const signInText = ({ scheme, host, port, path, returnTo }: NonNullable<NodeAuthorizer['signIn']>): string =>
  [
    scheme ?? '',
    hex(host ?? ''),
    port === null || port === DEFAULT_PORTS[scheme ?? 'http'] ? '' : port,
    hex(path),
    hex(returnTo?.parameter ?? ''),
    returnTo?.as ?? '',
  ].join(':')

const DEFAULT_PORTS = { http: 80, https: 443 } as const

/** Rules that find the questions of a route, among those that follow a target through the maps. */
export const authorizerRules = (mapPath: (map: MapName) => string): readonly string[] => [
  '    http-request set-var(txn.authorizer) var(txn.target) if { var(txn.target) -m beg q }',
  `    http-request set-var(txn.target) fe_name,concat(/,txn.authorizer,/to),map(${mapPath('authorizers')}) if ${isSet('authorizer')}`,
]

/**
 * Rules that ask. They come before those that change requests, so the question is about the request as the client sent
 * it. HAProxy continues after an error in Lua, so only requests that were expressly allowed go on.
 */
export const askRules: readonly string[] = [
  `    http-request set-var(txn.unread) bool(true) if ${isSet('authorizer')} !{ internal.htx.has_eom }`,
  `    http-request lua.authorize if ${isSet('authorizer')}`,
  // If the body is still arriving, a service answers, which reads some of it. Filters change only responses of members.
  `    http-request unset-var(txn.filter) if ${isSet('refusal')}`,
  `    http-request unset-var(txn.ownfilter) if ${isSet('refusal')}`,
  ...unreadRules(isSet('refusal')),
  `    http-request use-service lua.refuse if ${isSet('refusal')}`,
  `    http-request return status 500 if ${isSet('authorizer')} !${isSet('authorized')}`,
  `    http-response lua.give_cookies if ${isSet('given_cookies')}`,
]
