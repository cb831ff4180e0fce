kubectl create configmap boss
kubectl create -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: kid
  finalizers: [example.com/stay]
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: boss, uid: $(kubectl get configmap boss -o jsonpath='{.metadata.uid}'), blockOwnerDeletion: true}
EOF
