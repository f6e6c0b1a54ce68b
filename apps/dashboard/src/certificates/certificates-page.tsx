import type { FC } from 'react'
import { Page } from '../parts/page.tsx'

export const CertificatesPage: FC = () => <Page title="Certificates">…</Page>
