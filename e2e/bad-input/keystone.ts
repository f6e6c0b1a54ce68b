import { type Bad, NOBODY, oddIds } from './refusal.ts'

const domain = { name: 'Default' }
/** A password log-in. */
export const logIn = (name: string, password: string): object => ({
  auth: { identity: { methods: ['password'], password: { user: { name, password, domain } } } },
})

export const KEYSTONE: readonly Bad[] = [
  ...oddIds('/projects', ['"code":404', 'title']),
  {
    what: 'a wrong password',
    path: () => '/auth/tokens',
    body: () => logIn('alice', 'wrong'),
    status: 401,
    says: ['"code":401'],
  },
  {
    what: 'a user who is not there',
    path: () => '/auth/tokens',
    body: () => logIn('nobody', 'wrong'),
    status: 401,
    says: ['"code":401'],
  },
  {
    what: 'a method that is not there',
    path: () => '/auth/tokens',
    body: () => ({ auth: { identity: { methods: ['magic'] } } }),
    status: 400,
    says: ['auth.identity.methods[0]', 'password'],
  },
  { what: 'no body', path: () => '/auth/tokens', body: () => ({}), status: 400, says: ['auth'] },
  { what: 'broken JSON', path: () => '/auth/tokens', body: () => '{', status: 400, says: ['JSON'] },
  {
    what: 'a body too large',
    path: () => '/auth/tokens',
    body: () => `{"auth":"${'x'.repeat(120_000)}"}`,
    status: 413,
    says: ['32768'],
  },
  {
    what: 'a token nobody gave',
    method: 'GET',
    path: () => '/projects',
    token: () => 'nobody',
    status: 401,
    says: ['"code":401'],
  },
  {
    what: 'a token that expired',
    method: 'GET',
    path: () => '/auth/catalog',
    token: (known) => known.expiredToken,
    status: 401,
    says: ['"code":401'],
  },
  {
    what: 'a project, as a tenant',
    path: () => '/projects',
    body: () => ({ project: { name: 'mine' } }),
    status: 403,
    says: ['"code":403'],
  },
  {
    what: 'a project of a name that is taken',
    path: () => '/projects',
    token: (known) => known.adminToken,
    body: () => ({ project: { name: 'acme' } }),
    status: 409,
    says: ['name', 'acme', 'exists'],
  },
  {
    what: 'a project without a name',
    path: () => '/projects',
    token: (known) => known.adminToken,
    body: () => ({ project: {} }),
    status: 400,
    says: ['name'],
  },
  {
    what: "the other tenant's project",
    method: 'GET',
    path: (known) => `/projects/${known.bolt.projectId.replaceAll('-', '')}`,
    status: 404,
    says: ['"code":404'],
  },
  {
    what: 'a user, as a tenant',
    path: () => '/users',
    body: () => ({ user: { name: 'eve', password: 'x' } }),
    status: 403,
    says: ['"code":403'],
  },
  {
    what: 'the role of an administrator for oneself',
    method: 'PUT',
    path: (known) => `/projects/${known.acme.projectId}/users/${NOBODY}/roles/${NOBODY}`,
    status: 403,
    says: ['"code":403'],
  },
]
