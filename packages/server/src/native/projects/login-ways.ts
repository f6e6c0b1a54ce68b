import { loginWays, SpoutError } from '@spout/model'
import { z } from 'zod'
import { isOfPage } from '../../authn/page-cookie.ts'
import { type Route, route } from '../operations/route.ts'
import { providerOf } from './oidc-login.ts'

/** What the web page needs before anybody is logged in. */
export const loginWayRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/session/ways',
    tag: 'session',
    summary: 'The ways to log in, beside users and application credentials of ours',
    access: 'anyone',
    body: null,
    answer: { status: 200, schema: loginWays },
    handle: ({ page: { oidc } }) => ({ oidc: oidc && { name: oidc.name } }),
  }),
  route({
    method: 'POST',
    path: '/session/oidc',
    tag: 'session',
    summary:
      'Begin a login at the OpenID Connect provider: where the browser goes now; what it brings back opens the session',
    access: 'anyone',
    body: null,
    answer: { status: 201, schema: z.strictObject({ url: z.url() }) },
    handle: async (context, { request, reply }) => {
      if (!isOfPage(request)) throw new SpoutError('Forbidden', { reason: 'only the web page begins a login' })
      const { url, setCookie } = await providerOf(context).begin()
      reply.header('set-cookie', setCookie)
      return { url }
    },
  }),
]
