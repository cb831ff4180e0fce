# child.sh NAME OWNER UID: makes a ConfigMap whose owner is the ConfigMap OWNER with that uid.
kubectl create -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: $1
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: $2, uid: "$3"}
EOF
