import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { questionOf, searchOf } from './explain/question.ts'
import { detailSearch } from './load-balancers/detail/detail-search.ts'
import { tableSearch } from './load-balancers/table/table-search.ts'
import { NotFoundPage } from './parts/status-page.tsx'
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

/** Every page. Each is loaded when it is first shown. */
export const pageRouter = () =>
  createRouter({
    basepath: '/ui',
    routeTree: root.addChildren([start, loadBalancers, newLoadBalancer, loadBalancer, certificates, explain]),
    defaultErrorComponent: ErrorPage,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof pageRouter>
  }
}
