select file from glob('runs/*.csv')
