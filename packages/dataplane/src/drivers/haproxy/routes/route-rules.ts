import { MOST_WILDCARD_LABELS, REDIRECT_CODES, RESPONSE_CODES } from '@spout/model/route-words'
import { answeredEarly } from '../sections/answered-early.ts'
import { isSet } from '../sections/is-set.ts'
import type { MapName } from '../sections/maps.ts'
import { ROUTED } from '../sections/routed.ts'
import { askRules, authorizerRules } from './authorizers.ts'
import { bodyLimitRules } from './body-limits.ts'
import { clientConcurrencyRules } from './client-concurrency.ts'
import { clientRateRules } from './client-rate-rules.ts'
import { copyRules, mirrorRules } from './mirrors.ts'
import { relayRules } from './relays.ts'
import { KIND_PREFIXES } from './route-rows.ts'

/**
 * Rules of an HTTP frontend that find the backend of a request, as variable `txn.target`. They are the same for every
 * frontend: what differs is in maps.
 *
 * - `<frontend>/<host>/<path>` is looked up in `paths`. A path is in hexadecimal, and `/` and `.` follow it as the end
 *   mark, so the longest key that the request begins with is the row of its class.
 * - Without a row the host is not named. Then the names behind its first label are tried, the longest first, and at last
 *   the rows for all hosts. `:` is in no host name.
 *
 * @param canTest whether the proxy has `http-requests.lua`, which tests requests for what is no key, and filters
 */
export function routeRules(mapPath: (map: MapName) => string, canTest: boolean): readonly string[] {
  const set = (name: string, expression: string, condition = ''): string =>
    `    http-request set-var(txn.${name}) ${expression}${condition}`
  const begins = (name: string, text: string): string => ` if { var(txn.${name}) -m beg ${text} }`
  const inPaths = (kind: string, name: string | null): string => {
    const start = name === null ? `concat(/${kind}/)` : `concat(/${kind},txn.${name},/)`
    return `fe_name,${start},concat(,txn.path),map_beg(${mapPath('paths')})`
  }
  const tried = ` if ${isSet('domain')} !${isSet('target')}`
  return [
    set('target', `fe_name,map(${mapPath('backend')})`),
    `    http-request allow unless { var(txn.target) -m beg ${ROUTED.named} }`,
    // The host without port and trailing dot. Unlike with `hdr`, a comma does not end it.
    set('host', 'req.fhdr(host,1),field(1,:/),rtrim(.),lower'),
    // The host without its first label. A name without a dot gives nothing.
    set('domain', 'var(txn.host),field(2,.,0)', ` if { var(txn.target) -m str ${ROUTED.wildcards} }`),
    '    http-request unset-var(txn.target)',
    // `GET http://host` is for `/`, and so does a member read it (RFC 9112, 3.2.2). Others without a path get that one,
    // too, such as `GET *`, which over HTTP/2 becomes it behind these rules.
    '    http-request set-path / if !{ path -m found } !METH_OPTIONS !METH_CONNECT',
    // `OPTIONS *` has none, and so no end mark.
    set('path', 'path,hex,concat(2F.)'),
    set('target', inPaths('', 'host')),
    // Most requests have a named host and go to one pool. The following rules serve the others.
    '    http-request allow if { var(txn.target) -m beg b }',
    set('target', inPaths(KIND_PREFIXES['one-label'], 'domain'), tried),
    ...Array.from({ length: MOST_WILDCARD_LABELS }, (_, at) => MOST_WILDCARD_LABELS - at).flatMap((labels) => [
      // The whole name if it has fewer labels.
      set('suffix', `var(txn.domain),field(-1,.,${labels})`, tried),
      set('target', inPaths(KIND_PREFIXES['any-labels'], 'suffix'), tried),
    ]),
    set('target', inPaths(KIND_PREFIXES.any, null), ` unless ${isSet('target')}`),
    set('choice', 'var(txn.target)', ' if { var(txn.target) -m beg m t }'),
    // As a text: a variable forgets the name of a method that HAProxy itself does not know, such as PATCH (2.6).
    set('option', 'method,bytes(0)', begins('choice', 'm')),
    ...(canTest ? [set('option', 'lua.route_that_takes', begins('choice', 't'))] : []),
    set(
      'target',
      `fe_name,concat(/,txn.choice,/),concat(,txn.option),map(${mapPath('choices')})`,
      ` if ${isSet('option')}`,
    ),
    set('target', `fe_name,concat(/,txn.choice,/any),map(${mapPath('choices')})`, begins('target', 'm')),
    // For listeners that count by route.
    set('named', 'var(txn.target)', begins('target', 'i')),
    set('target', `fe_name,concat(/,txn.named,/to),map(${mapPath('routes')})`, ` if ${isSet('named')}`),
    set('route', `fe_name,concat(/,txn.named,/id),map(${mapPath('routes')})`, ` if ${isSet('named')}`),
    ...(canTest
      ? [
          ...authorizerRules(mapPath),
          set('filter', 'var(txn.target)', begins('target', 'f')),
          set('target', `fe_name,concat(/,txn.filter,/to),map(${mapPath('filters')})`, ` if ${isSet('filter')}`),
          ...mirrorRules(mapPath),
        ]
      : []),
    set('limits', 'var(txn.target)', begins('target', 'l')),
    set('target', `fe_name,concat(/,txn.limits,/to),map(${mapPath('limits')})`, ` if ${isSet('limits')}`),
    ...(canTest ? [...bodyLimitRules(mapPath), ...clientRateRules(mapPath)] : []),
    ...clientConcurrencyRules(mapPath, canTest),
    set('shares', 'var(txn.target)', begins('target', 'w')),
    set('size', `fe_name,concat(/,txn.shares,/size),map(${mapPath('shares')})`, ` if ${isSet('shares')}`),
    set('bucket', 'rand,mod(txn.size)', ` if ${isSet('size')}`),
    set(
      'target',
      `fe_name,concat(/,txn.shares,/),concat(,txn.bucket),map(${mapPath('shares')})`,
      ` if ${isSet('size')}`,
    ),
    ...(canTest
      ? [
          set('ownfilter', 'var(txn.target)', begins('target', 'g')),
          set(
            'target',
            `fe_name,concat(/,txn.ownfilter,/to),map(${mapPath('share-filters')})`,
            ` if ${isSet('ownfilter')}`,
          ),
        ]
      : []),
    set('answer', 'var(txn.target)', begins('target', 'a')),
    set('target', `fe_name,concat(/,txn.answer),map(${mapPath('answers')})`, ` if ${isSet('answer')}`),
    '    http-request unset-var(txn.target) if { var(txn.target) -m str default }',
    set('target', `fe_name,map(${mapPath('defaults')})`, ` unless ${isSet('target')}`),
    ...(canTest
      ? [
          // Most responses stay as they are, and pay for one condition.
          `    http-request set-var(txn.altered) bool(true) if ${['authorizer', 'filter', 'ownfilter'].map(isSet).join(' || ')}`,
          `    http-response allow unless ${isSet('altered')}`,
          ...askRules,
          `    http-request lua.filter_request if ${isSet('filter')}`,
          `    http-request lua.filter_request_of_share if ${isSet('ownfilter')}`,
          `    http-response lua.filter_response_of_share if ${isSet('ownfilter')}`,
          `    http-response lua.filter_response if ${isSet('filter')}`,
          ...copyRules,
        ]
      : []),
    ...relayRules(mapPath),
  ]
}

const REDIRECT = [
  'var(txn.code),concat(|location|,txn.scheme)',
  ...['host', 'port', 'prefix', 'path'].map((part) => `concat(,txn.${part})`),
].join()

/**
 * The backends of requests that are answered here, by what the map `answers` says of `txn.answer`.
 * @param canTest as of `routeRules`
 */
export function answerBackends(mapPath: (map: MapName) => string, canTest: boolean): readonly string[] {
  const part = (name: string, rest = ''): string =>
    `    http-request set-var(txn.${name}) fe_name,concat(/,txn.answer,/${name}),map(${mapPath('answers')})${rest}`
  const backend = (name: string): readonly string[] => [
    `backend ${name} from http-backend`,
    '    timeout connect 1ms',
    '    timeout server 1ms',
    part('code'),
  ]
  return [
    ...backend('respond'),
    ...(canTest ? answeredEarly('var(txn.code)', isSet('code')) : []),
    ...RESPONSE_CODES.map((code) => `    http-request return status ${code} if { var(txn.code) -m str ${code} }`),
    ...backend('redirect'),
    '    http-request set-var(txn.scheme) str(http://)',
    '    http-request set-var(txn.scheme) str(https://) if { ssl_fc }',
    part('scheme'),
    // The request's own, IPv6 addresses included. HTTP/1.0 may have none.
    '    http-request set-var(txn.host) req.fhdr(host,1),regsub(:[0-9]*$,)',
    part('host'),
    '    http-request return status 400 unless { var(txn.host) -m len gt 0 }',
    part('port'),
    '    http-request set-var(txn.path) pathq',
    part('path', ',ub64dec'),
    part('prefix', ',ub64dec'),
    ...(canTest ? [part('replace'), '    http-request lua.replace_prefix if { var(txn.replace) -m found }'] : []),
    ...(canTest ? answeredEarly(REDIRECT, isSet('code')) : []),
    ...REDIRECT_CODES.map(
      (code) =>
        `    http-request redirect location %[var(txn.scheme)]%[var(txn.host)]%[var(txn.port)]%[var(txn.prefix)]%[var(txn.path)] code ${code} if { var(txn.code) -m str ${code} }`,
    ),
  ]
}
