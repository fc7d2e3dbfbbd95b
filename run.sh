echo TAP version 13
echo 1..2
echo ok 1
if [ -f fixed ]; then echo ok 2; else echo not ok 2; fi
