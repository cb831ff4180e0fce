import { words } from '../words';
import type { WorkspaceFile } from './workspace';

/**
 * The files that a newcomer finds: enough to see something happen in the cluster, and a kind of one's own to define.
 * Files in the language of the first visit, and the visitor's own from then on.
 */
export const samples = (): readonly WorkspaceFile[] => [
  {
    path: 'deployment.yaml',
    text: `${comment(words.samples.deployment)}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: nginx
          image: nginx:1.27
          ports:
            - containerPort: 80
`,
  },
  {
    path: 'service.yaml',
    text: `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
    - port: 80
      targetPort: 80
`,
  },
  {
    path: 'boats.yaml',
    text: `${comment(words.samples.boats)}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.harbour.example.com
spec:
  group: harbour.example.com
  names:
    kind: Boat
    plural: boats
    singular: boat
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns:
        - name: Crew
          type: integer
          jsonPath: .spec.crew
        - name: Berths
          type: integer
          jsonPath: .spec.berths
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              description: What the harbour knows of a boat.
              required: [crew, berths]
              properties:
                crew:
                  type: integer
                  minimum: 1
                  description: How many people sail it.
                berths:
                  type: integer
                  description: How many people can sleep on it.
                rig:
                  type: string
                  description: How its sails are carried.
                  enum: [sloop, cutter, ketch, schooner]
              x-kubernetes-validations:
                - rule: self.crew <= self.berths
                  message: everybody needs a berth
`,
  },
  {
    path: 'boat.yaml',
    text: `apiVersion: harbour.example.com/v1
kind: Boat
metadata:
  name: albatross
spec:
  crew: 4
  berths: 3
  rig: ketch
`,
  },
];

/** In YAML, and in the width of a narrow editor. */
function comment(lines: string): string {
  return lines.replace(/^/gm, '# ');
}
