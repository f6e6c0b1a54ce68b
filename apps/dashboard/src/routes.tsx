import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  redirect,
} from '@tanstack/react-router'
import { questionOf, searchOf } from './explain/question.ts'
import { detailSearch } from './load-balancers/detail/detail-search.ts'
import { tableSearch } from './load-balancers/table/table-search.ts'
import { auditFilter, auditSearch } from './operators/audit-filter.ts'
import { NotFoundPage } from './parts/status-page.tsx'
import { isReturn } from './session/provider-answer.ts'
import { Door } from './shell/door.tsx'
import { ErrorPage } from './shell/error-page.tsx'

const root = createRootRoute({
  component: Door,
  errorComponent: ErrorPage,
  notFoundComponent: () => <NotFoundPage />,
})

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/load-balancers' })
  },
})

/**
 * Where an OpenID Connect provider sends the browser back to. Who is logged in already has nothing to do there. This is
 * drawn also after a login, until the page is loaded to which the login has led back: then the address is that one's.
 */
const logIn = createRoute({
  getParentRoute: () => root,
  path: '/log-in',
  component: () => isReturn(window.location) && <Navigate to="/load-balancers" replace />,
})

const loadBalancers = createRoute({
  getParentRoute: () => root,
  path: '/load-balancers',
  validateSearch: tableSearch,
  component: lazyRouteComponent(() => import('./load-balancers/table/table-page.tsx'), 'TablePage'),
})

const newLoadBalancer = createRoute({
  getParentRoute: () => root,
  path: '/load-balancers/new',
  component: lazyRouteComponent(() => import('./load-balancers/create/create-page.tsx'), 'CreatePage'),
})

const loadBalancer = createRoute({
  getParentRoute: () => root,
  path: '/load-balancers/$id',
  validateSearch: detailSearch,
  component: lazyRouteComponent(() => import('./load-balancers/detail/detail-page.tsx'), 'DetailPage'),
})

const certificates = createRoute({
  getParentRoute: () => root,
  path: '/certificates',
  component: lazyRouteComponent(() => import('./certificates/certificates-page.tsx'), 'CertificatesPage'),
})

const explain = createRoute({
  getParentRoute: () => root,
  path: '/explain',
  validateSearch: (search) => searchOf(questionOf(search)),
  component: lazyRouteComponent(() => import('./explain/explain-page.tsx'), 'ExplainPage'),
})

const networks = createRoute({
  getParentRoute: () => root,
  path: '/networks',
  component: lazyRouteComponent(() => import('./project/networks-page.tsx'), 'NetworksPage'),
})

const ownProject = createRoute({
  getParentRoute: () => root,
  path: '/project',
  component: lazyRouteComponent(() => import('./project/project-page.tsx'), 'OwnProjectPage'),
})

const nodes = createRoute({
  getParentRoute: () => root,
  path: '/nodes',
  component: lazyRouteComponent(() => import('./operators/nodes-page.tsx'), 'NodesPage'),
})

const node = createRoute({
  getParentRoute: () => root,
  path: '/nodes/$id',
  component: lazyRouteComponent(() => import('./operators/node-page.tsx'), 'NodePage'),
})

const addressPools = createRoute({
  getParentRoute: () => root,
  path: '/address-pools',
  component: lazyRouteComponent(() => import('./operators/pools-page.tsx'), 'PoolsPage'),
})

const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  component: lazyRouteComponent(() => import('./operators/projects-page.tsx'), 'ProjectsPage'),
})

const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$id',
  component: lazyRouteComponent(() => import('./project/project-page.tsx'), 'ProjectPage'),
})

const problems = createRoute({
  getParentRoute: () => root,
  path: '/problems',
  component: lazyRouteComponent(() => import('./operators/problems-page.tsx'), 'ProblemsPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: (search) => auditSearch(auditFilter(search)),
  component: lazyRouteComponent(() => import('./operators/audit-page.tsx'), 'AuditPage'),
})

/** Pages of what belongs to the operator. */
const operators = [nodes, node, addressPools, projects, project, problems, audit] as const

/** Every page. Each is loaded when it is first shown. */
export const pageRouter = () =>
  createRouter({
    basepath: '/ui',
    routeTree: root.addChildren([
      start,
      logIn,
      loadBalancers,
      newLoadBalancer,
      loadBalancer,
      certificates,
      explain,
      networks,
      ownProject,
      ...operators,
    ]),
    defaultErrorComponent: ErrorPage,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof pageRouter>
  }
}
